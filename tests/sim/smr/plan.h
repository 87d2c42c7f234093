#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/clock.h"
#include "sim/smr/wires.h"
#include "smr/order/messages/settings.h"
#include "smr/view.h"

namespace piracema::smr_sim {

/// How a Byzantine replica lies; several at a time, as bits.
enum Lie : std::uint32_t {
  equivocate = 1,        ///< As leader it proposes different batches to different replicas.
  double_vote = 2,       ///< It votes for whatever anybody proposes, as often as anybody does.
  stuff_write_set = 4,   ///< It says of what it never saw that it had written it.
  withhold = 8,          ///< It says nothing to some, or nothing of some kinds.
  replay = 16,           ///< It says again what it or others said long ago.
  false_chunk = 32,      ///< Pieces of checkpoints, and of the log, are not what they should be.
  slow_leader = 64,      ///< As leader it answers just before others lose patience.
  starve = 128,          ///< As leader it never orders what one client asks for.
  forge = 256,           ///< It proposes requests that nobody made.
  false_stop = 512,      ///< It asks for new leaders all the time.
  old_collects = 1024,   ///< As leader it shows what others signed in an earlier change.
  two_proposals = 2048,  ///< As leader it proposes one batch after another for the same place.
  overrule = 4096,       ///< As leader after a change it does not propose what is bound.
  false_decided = 8192,  ///< It says that what it made up is decided, and has the batch for it.
  fast_clock = 16384,    ///< As leader it lets the time of batches run ahead, or back.
  false_state = 32768,   ///< It votes for checkpoints, and offers some, that nobody has.
  all_lies = 65535,
  drop_some = 65536,    ///< As leader it drops three in ten of its proposals. Not one of all_lies:
                        ///< who does more is found out sooner.
  false_view = 131072,  ///< It tells clients of a view in which it is the only member.
};
constexpr std::size_t kinds_of_lies = 16;

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
  /// A client waits so long for an answer; 0: for ever.
  Time patience{};
  /// The service is the key-value map, and clients lock it (lock_errand.h).
  bool locks = false;
  /// Sessions that the service keeps; 0: more than there are clients.
  std::uint32_t sessions = 0;
  /// Bytes of the service's state beside what clients ask for, and of each piece of a checkpoint:
  /// small, so that it has several.
  std::uint32_t ballast = 0, chunk_bytes = 256;

  Time trouble_until{};
  WireFaults wires;
  /// Mean time between two faults of each kind; 0: none.
  Time crash{}, partition{}, one_way{}, slow{}, lose_disk{}, clock_jump{}, freeze{};
  /// All lose power at once; the one that leads is cut off from the other replicas; a client's
  /// connection to a replica ends.
  Time power{}, cut_leader{}, cut_link{};
  /// The disks of f replicas fail: a bit turns, a write goes astray, a sync fails, there is no
  /// room.
  Time bad_disk{};
  /// Replicas that are no members at first, and the mean time between two changes of the view.
  std::uint32_t spares = 0;
  Time reconfigure{};
  /// Whoever leads a regency below this gets no proposal through.
  smr::Regency mute_regencies = 0;
  /// How often who has just come back crashes again while it recovers.
  double relapse = 0;
  /// How often a crash waits for the next record that the replica writes.
  double crash_at_persist = 0.5;
  /// A sync takes up to so long.
  Time sync_most = std::chrono::microseconds(300);
  /// Clocks run up to so much too fast or too slow.
  double drift = 0;
  /// Making a checkpoint takes up to so long.
  Time checkpoint_most = std::chrono::milliseconds(20);
  /// The service says that it is so large; 0: it says what is true.
  std::uint64_t state_bytes = 0;
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
/// Disks that fail in every way, on f replicas.
Plan rotten(std::uint64_t seed, smr::FaultModel model);
/// Members come, go and are replaced while other things go wrong.
Plan moving(std::uint64_t seed, smr::FaultModel model);
/// More clients than the service keeps sessions for.
Plan crowded(std::uint64_t seed, smr::FaultModel model);
/// Clients lock the key-value map, while replicas crash, also as they recover.
Plan locking(std::uint64_t seed, smr::FaultModel model);

/// Checkpoints take long, and much is ordered meanwhile.
Plan hoarding(std::uint64_t seed, smr::FaultModel model);

/// All of the above, for both fault models.
struct NamedPlan {
  const char* name;
  Plan (*make)(std::uint64_t seed);
};
std::span<const NamedPlan> all_plans();

}  // namespace piracema::smr_sim
