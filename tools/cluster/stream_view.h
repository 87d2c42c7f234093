#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "jobs/protocol/job.h"
#include "jobs/protocol/stream_sight.h"

/// Streams that run in a cluster, for people and for programs. What they say of themselves their
/// users may have made up.
namespace piracema::tools {

/// Why nothing is known of the stream of a job that runs; nothing: `sight` is of it, and fresh.
/// Null: nobody has told of one.
std::optional<std::string> why_unknown(const jobs::Job& job, const jobs::StreamSight* sight,
                                       std::uint64_t now_ms);

/// Who was lost, by what that was noticed, after how long, and what was redone: a few sentences.
std::string explained(const jobs::StreamSight::Failure& failure);

/// Of a job that runs: "known", and the figures or "why" they are not.
nlohmann::ordered_json stream_json(const jobs::Job& job, const jobs::StreamSight* sight,
                                   std::uint64_t now_ms);

/// With times up to now, but for the age of the newest snapshot: there may be one since.
jobs::StreamSight as_of(jobs::StreamSight sight, std::uint64_t now_ms);

/// A line each; the newest failure follows on another one.
std::string stream_header();
std::string line_of(const jobs::StreamSight& sight, std::uint64_t now_ms);
/// All of it: a name and its words on each line.
std::vector<std::string> lines_of(const jobs::StreamSight& sight, std::uint64_t now_ms);

}  // namespace piracema::tools
