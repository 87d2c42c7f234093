#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "jobs/protocol/job.h"

namespace piracema::jobs {

/// The newest complete snapshot of a stream. It became so that long before it was looked at.
struct StreamSnapshot {
  std::uint64_t number = 0, age_ms = 0, took_ms = 0, bytes = 0;
  auto fields() { return std::tie(number, age_ms, took_ms, bytes); }
};

/// The newest loss of a stream: what was lost, and the way back.
struct StreamFailure {
  /// Since it was noticed.
  std::uint64_t age_ms = 0;
  /// The first process or replica that was lost, and how many others with it.
  std::string who, replicas, how;
  /// By what it was noticed, in a word: "process_ended", "silent", "operator_failed".
  std::string cause;
  std::uint32_t others = 0;
  /// From the loss until it was noticed, where the stream knows.
  std::optional<std::uint64_t> noticed_after_ms;
  /// Nothing: from the beginning, or the way back has not begun.
  std::optional<std::uint64_t> snapshot;
  std::uint64_t items_redone = 0;
  /// From the first notice until all ran again; nothing: they do not yet.
  std::optional<std::uint64_t> running_after_ms;
  auto fields() {
    return std::tie(age_ms, who, replicas, how, cause, others, noticed_after_ms, snapshot,
                    items_redone, running_after_ms);
  }
};

/// The process that decides for the stream.
struct StreamCoordinator {
  std::string host;
  std::uint64_t pid = 0, for_ms = 0;
  auto fields() { return std::tie(host, pid, for_ms); }
};

/// What a stream says of itself, as its node has read it. Its job's user may have made that up, so
/// texts are bounded (`bounded`) and numbers are those of a stream.
struct StreamSight {
  static constexpr std::size_t word_bytes_max = 64, text_bytes_max = 300;

  using Snapshot = StreamSnapshot;
  using Failure = StreamFailure;
  using Coordinator = StreamCoordinator;

  Attempt attempt;
  /// Why nothing is known; empty: all below is.
  std::string why;
  /// When it was told, by the group's clock.
  std::uint64_t told_ms = 0;
  std::string phase;
  /// Which operator holds the stream back, in a sentence.
  std::string bottleneck;
  /// From the sources and into the sinks, over the last seconds.
  double items_in_per_second = 0, items_out_per_second = 0;
  /// From the sources, redone ones once.
  std::uint64_t items = 0;
  /// How much of their input the sources have read, from 0 to 1; nothing: they do not know.
  std::optional<double> read;
  /// Packets that have come to replicas and wait for their turn.
  std::uint64_t queued = 0;
  std::uint64_t replicas = 0, workers = 0;
  std::uint64_t snapshots_taken = 0, snapshots_failed = 0;
  std::optional<Snapshot> snapshot;
  std::uint64_t failures = 0, recoveries = 0, items_redone = 0;
  std::optional<Failure> failure;
  std::optional<Coordinator> coordinator;
  auto fields() {
    return std::tie(attempt, why, told_ms, phase, bottleneck, items_in_per_second,
                    items_out_per_second, items, read, queued, replicas, workers, snapshots_taken,
                    snapshots_failed, snapshot, failures, recoveries, items_redone, failure,
                    coordinator);
  }
};

/// Of a job's command that shows no stream on its node.
constexpr const char* shows_no_stream = "it shows no stream";

/// The same with texts that are cut, and numbers that are none taken for 0: of whoever is not
/// trusted.
StreamSight bounded(StreamSight sight);

/// Of the bytes that `/api/v1/job` of a stream answers with: why it is none if they are something
/// else. Any bytes.
StreamSight stream_sight(const Attempt& attempt, std::string_view json);

}  // namespace piracema::jobs
