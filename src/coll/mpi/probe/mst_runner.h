#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "coll/mpi/probe/probe_thread.h"
#include "topology/message/courier.h"
#include "topology/mst/adapter.h"

namespace piracema::coll::mpi {

/// The paper's engine on one communicator: has an `Adapter` run on the thread that measures the
/// links, so the program does not wait for the tree, as the paper's does. Before the first tree is
/// there broadcasts go along a binomial one. The program's thread calls it, but for what a guest
/// has.
class MstRunner : public ProbeThread::Guest {
 public:
  /// `number` is the same at all ranks of the communicator, and no other communicator's.
  /// `adapt_every`: broadcasts between the beginnings of two rounds, at least.
  MstRunner(ProbeThread&, std::uint64_t number, Rank me, std::vector<Rank> world_ranks,
            double threshold, unsigned adapt_every);
  ~MstRunner() override;

  /// The program broadcasts. The first time the first tree is wanted.
  void on_broadcast();
  /// The last round that is over here.
  std::optional<std::uint32_t> round() const;
  /// The neighbours in a round's tree; nullopt as long as that is not over here. Trees of earlier
  /// rounds are forgotten: roots do not go back.
  std::optional<std::vector<Rank>> neighbours(std::uint32_t round);
  /// What is known here of a round for a report, once and for all: trees of later ones are not.
  struct Part {
    std::vector<Rank> neighbours;
    std::vector<std::pair<Rank, double>> costs;
  };
  /// nullopt if that is not the last round that is over here.
  std::optional<Part> part(std::uint32_t round) const;
  /// When a round began at this rank, and when it was over here.
  struct RoundTime {
    std::uint32_t round = 0;
    Time began{}, over{};
  };
  /// The newest ones, of those that are over here.
  std::vector<RoundTime> times() const;
  /// Letters that this rank has sent for trees, and those that were sent once more.
  std::uint64_t letters() const;

  void on_packet(Rank from, std::span<const char> bytes) override;
  std::vector<Packet> due(Time now, const LinkMap&, const Detours&) override;
  Time next() const override;

 private:
  std::vector<std::pair<Rank, double>> costs(const LinkMap&) const;
  void want_if_changed(Time now, const LinkMap&);
  bool has_measured(Time now, const LinkMap&);
  void send(const mst::Adapter::Letters&);
  void note_round();

  ProbeThread& probes_;
  const std::uint64_t number_;
  const Rank me_;
  const std::vector<Rank> world_ranks_;
  const unsigned adapt_every_;
  mutable std::mutex mutex_;
  mst::Adapter adapter_;
  Courier courier_;
  /// When the last round began here.
  Time began_{};
  std::deque<RoundTime> times_;
  /// When the first tree was wanted; 0: not yet.
  Time wanted_at_{};
  /// Since the last round began.
  unsigned broadcasts_ = 0;
  /// Since when a round would be of use; 0: it would not.
  Time of_use_since_{};
  /// Up to which version links have not changed enough.
  std::uint64_t looked_at_version_ = 0;
};

}  // namespace piracema::coll::mpi
