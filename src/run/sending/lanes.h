#pragma once

#include <piracema/graph.h>
#include <piracema/operator.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "flow/plan.h"
#include "run/sending/pace.h"
#include "run/sending/send_options.h"

namespace piracema::runtime {

/// Where what an operator emits collects until it is a batch: a lane for each receiver of each
/// output, and behind these one for what any of them may get. Knows how large a batch of each
/// output is to be, and for how long an item waits for company. Whoever derives from it closes the
/// lanes.
class Lanes : public Output {
 public:
  /// How long the slowest of all that follow takes for an item.
  std::uint64_t downstream_ns_per_item() const;
  /// In lanes that were closed.
  std::uint64_t items_sent() const { return items_sent_; }
  std::uint64_t bytes_sent() const { return bytes_sent_; }
  /// The items that a whole program begins count as sent, since none of them comes to a lane.
  void count_begun(std::uint64_t items) { items_sent_ += items; }

 protected:
  /// A lane, by its output and by the receiver's index there; `receivers(output)`: any of them.
  struct Place {
    std::uint32_t output = 0;
    std::size_t receiver = 0;
  };

  /// Deliveries and routers are those of the graph's edges.
  Lanes(const flow::ReplicaPlan& plan, const Graph& graph, const SendOptions& options);

  /// None for a sink, although that has a lane.
  std::uint32_t outputs() const { return static_cast<std::uint32_t>(limits_.size()); }
  const Place& place_of(std::size_t lane) const { return places_[lane]; }

  /// Some lane of it holds something.
  bool is_open(std::uint32_t output) const;
  /// What a lane holds; it is empty then.
  Batch close(std::size_t lane);

  /// A receiver, or the slowest after it, takes so long for an item.
  void heard(std::uint32_t output, std::uint64_t ns_per_item);
  /// Since this was last true an item may have waited for company for as long as it may.
  bool lingered(std::uint32_t output, Time now);

  // ---- batches that carry an order: docs/design/001-order-of-batches.md
  bool is_ordered(std::uint32_t output) const { return limits_[output].order.has_value(); }
  /// A batch may go to several receivers, so that several wait at once.
  bool splits(std::uint32_t output) const { return limits_[output].splits; }
  /// The items that are emitted from now on have the positions of those that they come from, or are
  /// counted from 0.
  void begin_positions(bool inherited);
  /// They come from no item.
  void inherit_no_positions() { inherits_positions_ = false; }
  void count_positions_anew() { emitted_ = 0; }
  /// The first output of each order: outputs that lead to different ends get a batch each.
  const std::vector<std::uint32_t>& orders() const { return orders_; }
  /// The lanes that the batch is in which is done: those of the outputs of one order that hold
  /// something, or else one. Its items keep their
  /// positions only if these say something.
  std::vector<std::size_t> filled(std::uint32_t first_output);

 private:
  /// When the lanes of an output are closed; its `Way` has what each item is compared with.
  struct Limits {
    std::optional<std::uint32_t> order;
    bool splits = false;
    /// A batch may be in several lanes, so that its items keep their positions.
    bool cuts = false;
    /// Between two nodes of an order a batch leaves whole, when the batch it came from is done.
    bool leaves_whole = false;
    BatchPace pace;
    /// How long an item waits for company at most, and since when.
    Time linger{};
    Time flushed{};
  };

  void add_output(const flow::ReplicaPlan& plan, const flow::OutputPlan& output, const Graph& graph,
                  const SendOptions& options);
  void set_limits(std::uint32_t output);

  std::vector<Limits> limits_;
  /// Of each lane.
  std::vector<Place> places_;
  std::vector<std::uint32_t> orders_;
  std::uint64_t items_sent_ = 0;
  std::uint64_t bytes_sent_ = 0;
};

}  // namespace piracema::runtime
