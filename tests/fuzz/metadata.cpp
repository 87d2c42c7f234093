// Feeds mutated bytes to what reads the metadata of a job and the decisions of a log; wrong ones
// have the right checksum, as a program gone mad would write them.
//
//     fuzz_metadata [SECONDS]       some thousand inputs, or as many as fit into the time
//     PIRACEMA_SEED=4711 fuzz_metadata      one
//
// What must hold: nothing crashes (the sanitizers look on in the preset dev); what is read as
// metadata is read again as it was written, and a coordinator that is made of it can be told what
// happens.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/text.h"
#include "control/coordinator/coordinator.h"
#include "fuzzing.h"
#include "wire/checksum.h"

using namespace piracema;
using namespace piracema::cluster;

namespace {

constexpr std::uint64_t inputs_in_a_test = 20'000;
// Magic number, version and checksum.
constexpr std::size_t sum_at = 8, body_at = 16;

std::vector<Decision> life() {
  GraphShape shape;
  shape.nodes = {{.name = "a", .role = Role::source}, {.name = "b", .role = Role::sink}};
  shape.edges = {{.from = 0, .to = 1}};
  GraphShape larger = shape;
  larger.nodes[1].replicas = 2;
  const SavedSnapshot saved{
      .id = 2, .epoch = 1, .emitted = 7, .parts = {{0, 1, 1}, {1, 2, 2}, {2, 3, 3}}};
  return {TermRaised{1},
          JobPlanned{runtime::encode_shape(shape), {"x", "y"}, {0, 1}},
          EpochRaised{1},
          SnapshotBegun{1},
          SnapshotGivenUp{1, false},
          FailureCounted{{{1, 1, 77}, {0, 0, std::nullopt}}, true},
          ItemBanned{{1, 1, 77}},
          EpochEnded{1},
          ProcessReplaced{0, 0, true},
          ScaleBegun{runtime::encode_shape(larger), {0, 1, 2}, 3},
          PlanChanged{},
          EpochRaised{2},
          EpochFruitful{2},
          ReplicaEnded{1},
          SnapshotBegun{2},
          SnapshotSaved{saved},
          SnapshotCompleted{2},
          ScaleBegun{runtime::encode_shape(shape), {0, 1}, 2},
          ScaleGivenUp{},
          StopAccepted{},
          LastCommitBegun{2},
          ProcessGone{0, 0},
          JobEnded{75, "stopped"}};
}

JobMetadata begun() {
  JobSettings settings;
  settings.slots = 2;
  settings.snapshots = true;
  settings.earlier.busy = {{"a", 0.5}};
  return JobMetadata(settings);
}

/// Why what this seed makes was read wrongly; empty if it was not.
std::string run_one(std::uint64_t seed) {
  Random random(seed);
  const auto decisions = life();
  JobMetadata job = begun();
  const std::size_t count = random.below(decisions.size() + 1);
  for (std::size_t i = 0; i < count; ++i) {
    if (!job.apply(decisions[i])) return "a decision that was right is refused";
  }
  std::string bytes(as_text(job.encode()));
  fuzzing::mutate(bytes, 1 + random.below(3), random, body_at);
  if (bytes.size() >= body_at) {
    const std::uint64_t sum = wire::checksum(as_bytes(bytes).subspan(body_at));
    std::memcpy(bytes.data() + sum_at, &sum, sizeof sum);
  }
  const auto read = JobMetadata::decode(as_bytes(bytes));
  if (read) {
    const auto again = JobMetadata::decode(read->encode());
    if (!again || as_text(again->encode()) != as_text(read->encode())) {
      return "what was read is written as something else";
    }
    Coordinator coordinator(*read);
    Time now{1'000'000'000};
    static_cast<void>(coordinator.step(now, Tick{}));
    for (Slot slot = 0; slot < std::min<Slot>(2, read->settings.slots); ++slot) {
      const std::uint32_t incarnation = coordinator.metadata().incarnations[slot];
      static_cast<void>(coordinator.step(
          now, Joined{slot, incarnation, "address", read->graph, {}, read->layouts}));
      static_cast<void>(coordinator.step(
          now, Said{slot, incarnation,
                    runtime::Attached{coordinator.metadata().term, coordinator.epoch()}}));
    }
    static_cast<void>(coordinator.step(now + std::chrono::seconds(10), Tick{}));
  }

  std::string log(as_text(encode_decisions(decisions)));
  fuzzing::mutate(log, 1 + random.below(3), random);
  const auto list = decode_decisions(as_bytes(log));
  if (!list) return {};
  JobMetadata other = begun();
  for (const Decision& decision : *list) {
    if (!other.apply(decision)) break;
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) { return fuzzing::run(argc, argv, inputs_in_a_test, run_one); }
