#include "tools/cluster/stream_metrics.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace piracema::tools {

namespace {

using jobs::StreamSight;
using observe::MetricsWriter;

double seconds_of(std::uint64_t ms) { return static_cast<double>(ms) / 1e3; }

}  // namespace

void write_streams(MetricsWriter& out, const ClusterSight& sight) {
  std::vector<std::pair<MetricsWriter::Labels, const StreamSight*>> shown;
  std::uint64_t known = 0, unknown = 0;
  for (const jobs::Job& job : sight.jobs) {
    if (!runs(job)) continue;
    const StreamSight* const one = sight.stream_of(job);
    if (!sight.knows_stream_of(job)) {
      unknown += one != nullptr && one->why == jobs::shows_no_stream ? 0 : 1;
      continue;
    }
    known += 1;
    if (shown.size() == streams_with_metrics_max) continue;
    shown.push_back({{{"job_id", std::to_string(job.id)}, {"name", job.spec.name}}, one});
  }
  out.gauge("piracema_cluster_streams",
            "Jobs that run a stream of which something is known; and those of which it is not "
            "known whether they do, or how it is.");
  out.put({{"known", "yes"}}, known);
  out.put({{"known", "no"}}, unknown);
  const auto of_each = [&](auto value) {
    for (const auto& [labels, one] : shown) out.put(labels, value(*one));
  };
  const auto of_two = [&](const char* label, std::pair<const char*, const char*> names,
                          auto values) {
    for (const auto& [labels, one] : shown) {
      const auto [first, second] = values(*one);
      auto more = labels;
      more.emplace_back(label, names.first);
      out.put(more, first);
      more.back().second = names.second;
      out.put(more, second);
    }
  };
  const auto of_those = [&](auto has, auto value) {
    for (const auto& [labels, one] : shown) {
      if (has(*one)) out.put(labels, value(*one));
    }
  };
  out.gauge("piracema_cluster_stream_items_per_second",
            "Items from the sources, and into the sinks, over the last seconds.");
  of_two("direction", {"in", "out"}, [](const StreamSight& one) {
    return std::pair(one.items_in_per_second, one.items_out_per_second);
  });
  out.counter("piracema_cluster_stream_source_items",
              "Items that the sources have sent, redone ones once; an attempt begins at 0.");
  of_each([](const StreamSight& one) { return one.items; });
  out.gauge("piracema_cluster_stream_source_read_ratio",
            "How much of their input the sources have read.");
  of_those([](const StreamSight& one) { return one.read.has_value(); },
           [](const StreamSight& one) { return *one.read; });
  out.gauge("piracema_cluster_stream_queued_packets",
            "Packets that have come to replicas and wait for their turn.");
  of_each([](const StreamSight& one) { return one.queued; });
  out.gauge("piracema_cluster_stream_replicas", "Replicas of all operators.");
  of_each([](const StreamSight& one) { return one.replicas; });
  out.gauge("piracema_cluster_stream_workers", "Worker processes that the stream is to have.");
  of_each([](const StreamSight& one) { return one.workers; });
  out.counter("piracema_cluster_stream_snapshots", "Snapshots of this attempt by their outcome.");
  of_two("outcome", {"complete", "failed"}, [](const StreamSight& one) {
    return std::pair(one.snapshots_taken, one.snapshots_failed);
  });
  const auto has_snapshot = [](const StreamSight& one) { return one.snapshot.has_value(); };
  out.gauge("piracema_cluster_stream_last_snapshot_age_seconds",
            "What a failure now would go back by.");
  of_those(has_snapshot, [](const StreamSight& one) { return seconds_of(one.snapshot->age_ms); });
  out.gauge("piracema_cluster_stream_last_snapshot_size_bytes",
            "Bytes of the newest complete snapshot.");
  of_those(has_snapshot, [](const StreamSight& one) { return one.snapshot->bytes; });
  out.gauge("piracema_cluster_stream_last_snapshot_duration_seconds",
            "How long the newest complete snapshot took.");
  of_those(has_snapshot, [](const StreamSight& one) { return seconds_of(one.snapshot->took_ms); });
  out.counter("piracema_cluster_stream_failures",
              "How often processes or operators of this attempt were lost.");
  of_each([](const StreamSight& one) { return one.failures; });
  out.counter("piracema_cluster_stream_recoveries", "Returns to a snapshot.");
  of_each([](const StreamSight& one) { return one.recoveries; });
  out.counter("piracema_cluster_stream_items_redone",
              "Items of the sources that recoveries have done again.");
  of_each([](const StreamSight& one) { return one.items_redone; });
  out.gauge("piracema_cluster_stream_coordinator_seconds",
            "How long the process has been the coordinator that is now.");
  of_those([](const StreamSight& one) { return one.coordinator.has_value(); },
           [](const StreamSight& one) { return seconds_of(one.coordinator->for_ms); });
}

}  // namespace piracema::tools
