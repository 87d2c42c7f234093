#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "coll/figures/tree_parts.h"
#include "coll/mpi/probe/mst_runner.h"

namespace piracema::coll::mpi {

/// While somebody looks on, each rank tells rank 0 its neighbours in the tree of engine mst on the
/// communicator of all ranks: a guest of the thread that measures links. Packets that are lost are
/// made good by the next ones.
class TreeNews : public ProbeThread::Guest {
 public:
  /// Both outlive it.
  TreeNews(ProbeThread& probes, const MstRunner& mst, Rank me, Rank size);
  ~TreeNews() override;

  /// At rank 0: the tree of the last round, if all have told of it. Any thread.
  std::optional<Tree> tree() const;

  void on_packet(Rank from, std::span<const char> bytes) override;
  std::vector<Packet> due(Time now, const LinkMap&, const Detours&) override;
  Time next() const override;

 private:
  ProbeThread& probes_;
  const MstRunner& mst_;
  const Rank me_;
  /// Rank 0 hears of a hundred in a second at most.
  const Time tells_every_;
  /// The thread's own.
  Time next_{};
  mutable std::mutex mutex_;
  TreeParts parts_;
};

}  // namespace piracema::coll::mpi
