#pragma once

#include <piracema/batch.h>
#include <piracema/codec.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "run/packet/port.h"

/// For the tests of what sends.
namespace piracema::runtime::testing {

/// Keeps what a replica does. Time stands still, but for `wall` and what a look takes.
class Recorder final : public Port {
 public:
  void send(ReplicaId to, Packet packet) override { sent.emplace_back(to, std::move(packet)); }
  void save(SnapshotId snapshot, std::uint64_t, store::PartContent part) override {
    saved[snapshot].append(part.data.data(), part.data.size());
    if (part.index) indexes[snapshot] = *std::move(part.index);
  }
  void save_piece(SnapshotId snapshot, Buffer piece) override {
    saved[snapshot].append(piece.data(), piece.size());
    pieces[snapshot] += 1;
    unwritten_bytes += piece.size();
  }
  std::uint64_t unwritten() const override { return unwritten_bytes; }
  void ended() override { has_ended = true; }
  void committed(SnapshotId snapshot) override { committed_snapshots.push_back(snapshot); }
  void first_output() override { first_outputs += 1; }
  void failed(std::optional<std::uint64_t> item, std::string why) override {
    failures.emplace_back(item, std::move(why));
  }
  void skipped(std::uint64_t item, Bytes) override { skipped_items.push_back(item); }
  bool wait(std::optional<Time> longest) override { return on_wait && on_wait(longest); }
  std::function<void()> waker() override {
    return [] {};
  }
  Time now() override { return clock += look; }
  WallTime wall_time() override { return wall; }

  template <class P>
  std::vector<std::pair<ReplicaId, P>> sent_of() const {
    std::vector<std::pair<ReplicaId, P>> all;
    for (const auto& [to, packet] : sent) {
      if (const P* p = std::get_if<P>(&packet)) all.emplace_back(to, *p);
    }
    return all;
  }
  std::vector<std::int64_t> values() const {
    std::vector<std::int64_t> all;
    for (const auto& [to, batch] : sent_of<Batch>()) {
      BatchReader items(batch);
      for (std::uint32_t i = 0; i < batch.count; ++i) {
        all.push_back(Codec<std::int64_t>::decode(items.next()));
      }
    }
    return all;
  }

  std::vector<std::pair<ReplicaId, Packet>> sent;
  std::map<SnapshotId, Buffer> saved;
  std::map<SnapshotId, int> pieces;
  std::uint64_t unwritten_bytes = 0;
  std::map<SnapshotId, store::PartIndex> indexes;
  std::vector<SnapshotId> committed_snapshots;
  std::vector<std::pair<std::optional<std::uint64_t>, std::string>> failures;
  std::vector<std::uint64_t> skipped_items;
  bool has_ended = false;
  int first_outputs = 0;
  WallTime wall{};
  Time clock{};
  /// How long it takes to look at the clock.
  Time look{};
  std::function<bool(std::optional<Time>)> on_wait;
};

}  // namespace piracema::runtime::testing
