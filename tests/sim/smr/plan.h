#pragma once

#include <cstdint>

#include "base/clock.h"
#include "sim/smr/wires.h"
#include "smr/order/settings.h"
#include "smr/view.h"

namespace piracema::smr_sim {

/// How a Byzantine replica lies; several at a time, as bits.
enum Lie : std::uint32_t {
  equivocate = 1,       ///< As leader it proposes different batches to different replicas.
  double_vote = 2,      ///< It votes for whatever anybody proposes, as often as anybody does.
  stuff_write_set = 4,  ///< It says of what it never saw that it had written it.
  withhold = 8,         ///< It says nothing to some, or nothing of some kinds.
  replay = 16,          ///< It says again what it or others said long ago.
  false_chunk = 32,     ///< Pieces of checkpoints, and of the log, are not what they should be.
  slow_leader = 64,     ///< As leader it answers just before others lose patience.
  starve = 128,         ///< As leader it never orders what one client asks for.
  forge = 256,          ///< It proposes requests that nobody made.
  false_stop = 512,     ///< It asks for new leaders all the time.
  old_collects = 1024,  ///< As leader it shows what others signed in an earlier change.
  all_lies = 2047,
};

/// What a seed stands for: who takes part, and what goes wrong. Until `trouble_until`, that is:
/// what happens later is up to the replicas alone.
struct Plan {
  std::uint64_t seed = 1;
  smr::FaultModel model = smr::FaultModel::crash;
  std::uint32_t n = 3, f = 1;
  smr::Settings settings;

  std::uint32_t clients = 3;
  /// Each client's, and how many of them it has under way at once.
  std::uint32_t operations = 30, outstanding = 1;
  /// Between an answer and the next request.
  Time think = std::chrono::milliseconds(1);
  std::uint32_t keys = 3;
  /// How often an operation is about a lease, or is a read outside of the order.
  double leases = 0, reads = 0;
  /// How often a client's proof convinces only some replicas.
  double bad_proofs = 0;
  bool sends_to_all = true;

  Time trouble_until{};
  WireFaults wires;
  /// Mean time between two faults of each kind; 0: none.
  Time crash{}, partition{}, one_way{}, slow{}, lose_disk{}, clock_jump{}, freeze{};
  /// How often a crash waits for the next record that the replica writes.
  double crash_at_persist = 0.5;
  /// A sync takes up to so long.
  Time sync_most = std::chrono::microseconds(300);
  /// Clocks run up to so much too fast or too slow.
  double drift = 0;
  /// Executing a batch takes up to so long.
  Time execution_most = std::chrono::microseconds(100);

  /// So many of the replicas lie, each in these ways.
  std::uint32_t liars = 0;
  std::uint32_t lies = 0;
};

/// A cluster drawn from the seed in which nothing goes wrong: 3 to 7 replicas, small windows and
/// batches, few instances from one checkpoint to the next.
Plan calm(std::uint64_t seed, smr::FaultModel model);
/// Wires only.
Plan lossy(std::uint64_t seed, smr::FaultModel model);
/// All that may happen to a cluster, within f.
Plan troubled(std::uint64_t seed, smr::FaultModel model);
/// The same with f liars.
Plan lying(std::uint64_t seed);

}  // namespace piracema::smr_sim
