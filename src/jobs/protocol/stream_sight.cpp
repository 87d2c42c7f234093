#include "jobs/protocol/stream_sight.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>

namespace piracema::jobs {

namespace {

using Json = nlohmann::json;

// More than that a double does not tell apart, and no stream has.
constexpr double number_max = 9e15;

double right_number(double value) {
  return std::isfinite(value) ? std::clamp(value, 0.0, number_max) : 0;
}

const Json& member(const Json& object, const char* name) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto found = object.find(name);
  return found == object.end() ? none : *found;
}

double number_in(const Json& object, const char* name) {
  const Json& value = member(object, name);
  return value.is_number() ? right_number(value.get<double>()) : 0;
}
std::uint64_t count_in(const Json& object, const char* name) {
  return static_cast<std::uint64_t>(number_in(object, name));
}
std::uint64_t ms_of(double seconds) {
  return static_cast<std::uint64_t>(right_number(1e3 * seconds));
}
std::optional<std::uint64_t> ms_in(const Json& object, const char* name) {
  if (!member(object, name).is_number()) return std::nullopt;
  return ms_of(number_in(object, name));
}
std::string text_in(const Json& object, const char* name) {
  const Json& value = member(object, name);
  return value.is_string() ? value.get<std::string>() : "";
}

std::optional<StreamSight::Snapshot> snapshot_in(const Json& last, double at) {
  if (!last.is_object()) return std::nullopt;
  return StreamSight::Snapshot{.number = count_in(last, "snapshot"),
                               .age_ms = ms_of(at - number_in(last, "at")),
                               .took_ms = ms_of(number_in(last, "took")),
                               .bytes = count_in(last, "bytes")};
}

std::optional<StreamSight::Failure> failure_in(const Json& newest, double at) {
  if (!newest.is_object()) return std::nullopt;
  StreamSight::Failure failure{.age_ms = ms_of(at - number_in(newest, "noticed_at")),
                               .items_redone = count_in(newest, "items_redone"),
                               .running_after_ms = ms_in(newest, "running_after")};
  if (member(newest, "snapshot").is_number()) failure.snapshot = count_in(newest, "snapshot");
  const Json& losses = member(newest, "losses");
  if (!losses.is_array() || losses.empty()) return failure;
  const Json& first = losses.front();
  failure.who = text_in(first, "who");
  failure.replicas = text_in(first, "replicas");
  failure.how = text_in(first, "how");
  failure.cause = text_in(first, "cause");
  failure.others = static_cast<std::uint32_t>(
      std::min<std::size_t>(losses.size() - 1, std::numeric_limits<std::uint32_t>::max()));
  if (member(first, "killed_at").is_number()) {
    failure.noticed_after_ms = ms_of(number_in(first, "at") - number_in(first, "killed_at"));
  }
  return failure;
}

void cut(std::string& text, std::size_t most) {
  if (text.size() <= most) return;
  text.resize(most);
  // Not in the middle of a letter.
  const auto is_inner = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  while (!text.empty() && is_inner(text.back())) text.pop_back();
  if (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80) != 0) text.pop_back();
}

}  // namespace

StreamSight bounded(StreamSight sight) {
  cut(sight.phase, StreamSight::word_bytes_max);
  cut(sight.why, StreamSight::text_bytes_max);
  cut(sight.bottleneck, StreamSight::text_bytes_max);
  for (double* const rate : {&sight.items_in_per_second, &sight.items_out_per_second}) {
    *rate = right_number(*rate);
  }
  if (sight.read) sight.read = std::min(1.0, right_number(*sight.read));
  if (sight.failure) {
    cut(sight.failure->who, StreamSight::word_bytes_max);
    cut(sight.failure->cause, StreamSight::word_bytes_max);
    cut(sight.failure->replicas, StreamSight::text_bytes_max);
    cut(sight.failure->how, StreamSight::text_bytes_max);
  }
  if (sight.coordinator) cut(sight.coordinator->host, StreamSight::word_bytes_max);
  return sight;
}

StreamSight stream_sight(const Attempt& attempt, std::string_view json) {
  StreamSight sight{.attempt = attempt};
  const Json job = Json::parse(json, nullptr, false);
  if (!member(job, "phase").is_string() || !member(job, "items_out_per_second").is_number()) {
    sight.why = "what answers at the address that it shows is no stream";
    return sight;
  }
  const double at = number_in(job, "at");
  sight.phase = text_in(job, "phase");
  sight.bottleneck = text_in(job, "bottleneck");
  sight.items_in_per_second = number_in(job, "items_in_per_second");
  sight.items_out_per_second = number_in(job, "items_out_per_second");
  sight.items = count_in(job, "items");
  if (member(job, "read").is_number()) sight.read = number_in(job, "read");
  sight.queued = count_in(job, "queued");
  sight.replicas = count_in(job, "replicas");
  sight.workers = count_in(job, "workers");
  const Json& snapshots = member(job, "snapshots");
  sight.snapshots_taken = count_in(snapshots, "taken");
  sight.snapshots_failed = count_in(snapshots, "failed");
  sight.snapshot = snapshot_in(member(snapshots, "last"), at);
  sight.failures = count_in(job, "failures");
  sight.recoveries = count_in(job, "recoveries");
  sight.items_redone = count_in(job, "items_redone");
  sight.failure = failure_in(member(job, "failure"), at);
  const Json& coordinator = member(job, "coordinator");
  if (coordinator.is_object()) {
    sight.coordinator = {
        .host = text_in(coordinator, "host"),
        .pid = count_in(coordinator, "pid"),
        .for_ms = ms_of(number_in(job, "now_at_unix") - number_in(coordinator, "since_unix"))};
  }
  return bounded(std::move(sight));
}

}  // namespace piracema::jobs
