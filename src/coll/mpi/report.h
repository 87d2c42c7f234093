#pragma once

#include <string>

#include "coll/mpi/probe/mst_runner.h"
#include "coll/mpi/probe/probe_thread.h"
#include "coll/plan/settings.h"
#include "coll/plan/window_costs.h"
#include "topology/trees/tree.h"

namespace piracema::coll::mpi {

/// What is known of the job whether anything is done or not.
struct Job {
  Settings settings;
  Rank me = 0, size = 0;
  /// Why all is left to the MPI library; empty: it is not.
  std::string left_alone;
  /// MPI_Init.
  Time begun{};
};

/// The paper's tree as the last round on the communicator of all ranks has left it.
struct MstTree {
  /// No round is over at some rank, or another one is already.
  bool known = false;
  std::uint32_t round = 0;
  Tree tree;
  /// What the round took each link to cost; seconds, row by row.
  std::vector<double> costs;
};

/// What all ranks together have sent, apart from the program's collectives.
struct Totals {
  /// To measure links.
  std::uint64_t probes = 0;
  /// What calls have taken on communicators of all ranks.
  WindowCosts calls;
  /// Engine mst, all communicators: rounds of adaptation at rank 0, and messages for them.
  std::uint64_t rounds = 0, letters = 0;
  MstTree mst;
  /// Of the communicator of all ranks, at rank 0.
  std::vector<MstRunner::RoundTime> mst_times;
  /// A line for each root of what its broadcasts went along.
  std::string mst_uses;
};

/// Writes what is known when the program ends, as one JSON object: docs/formats/coll.md. `trees`
/// holds a line for each tree that came into use. `probes` may be null.
Result<Done> write_report(const Job&, const ProbeThread* probes, const Totals&,
                          const std::string& trees);

}  // namespace piracema::coll::mpi
