#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "topology/measure/coordinate.h"
#include "topology/measure/forecaster.h"
#include "topology/measure/steady.h"
#include "topology/trees/costs.h"

namespace piracema::coll {

/// What one rank has measured and others may know: a row of the map.
struct Row {
  Rank of = 0;
  /// Grows with every change.
  std::uint32_t version = 0;
  /// Seconds to each rank; below 0 where it was not measured.
  std::vector<float> latency;
  /// Seconds that a megabyte takes on its way from each rank; below 0 where none came.
  std::vector<float> megabyte;
  Coordinate place;
};

/// What one rank knows of all links: what it measures itself, and the rows of the others as they
/// came along with other messages. Pure; one thread.
class LinkMap {
 public:
  /// `size` is link_map_ranks_max at most.
  LinkMap(Rank me, Rank size, std::uint64_t seed);

  /// A round trip has taken so long.
  void on_round_trip(Rank peer, Time took);
  /// A question has been without an answer for so long: the link takes half of that at least.
  void on_silence(Rank peer, Time so_far);
  /// Large data has come from a rank, a megabyte in so many seconds.
  void on_transfer(Rank peer, double megabyte);
  /// A row as its owner has it. Old ones are ignored. False if it makes no sense.
  bool on_row(const Row&);
  const Row& row(Rank of) const { return rows_[of]; }

  /// Both ends' values where they are known, their mean; else the distance of their places; else
  /// the median of what is known. `measured` counts the pairs that were known. Bandwidth is that of
  /// the other direction where it is not known for one, and 0 where for none.
  LinkTable table(std::size_t* measured = nullptr) const;
  /// The same for one pair; below 0 where `table` has to guess.
  double known_latency(Rank a, Rank b) const;
  /// Raised by every change of any row: whether a tree should be made anew.
  std::uint64_t version() const { return version_; }
  const Forecaster& forecaster(Rank peer) const { return forecasters_[peer]; }
  Rank size() const { return static_cast<Rank>(rows_.size()); }
  Rank me() const { return me_; }

 private:
  void publish(Rank peer);
  void changed();

  Rank me_;
  Random random_;
  std::vector<Row> rows_;
  std::vector<Forecaster> forecasters_;
  std::vector<Steady> steady_;
  /// The same of megabytes.
  std::vector<Forecaster> transfers_;
  std::vector<Steady> steady_transfers_;
  std::uint64_t version_ = 0;
};
constexpr Rank link_map_ranks_max = 1'024;

}  // namespace piracema::coll
