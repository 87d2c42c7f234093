#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "jobs/protocol/job.h"

/// Nodes and jobs of a cluster for people and for programs. Times are by the clock of the group:
/// ago.
namespace piracema::tools {

const char* name_of(jobs::JobState state);
/// Of its state; one that stands still while it runs is suspended.
const char* name_of(const jobs::Job& job);
const char* state_of(const jobs::Node& node);
/// What that means, in a line.
const char* explained(const jobs::Job& job);
const char* explained(const jobs::Node& node);

/// How long ago something was, by the clock of the group.
std::uint64_t ago_ms(std::uint64_t at_ms, std::uint64_t now_ms);

nlohmann::ordered_json json_of(const jobs::Job& job, std::uint64_t now_ms);
nlohmann::ordered_json json_of(const jobs::Node& node, std::uint64_t now_ms);
/// A line each.
std::string job_header();
std::string line_of(const jobs::Job& job, std::uint64_t now_ms);
std::string node_header();
std::string line_of(const jobs::Node& node, std::uint64_t now_ms);

/// Of users, as of the others above.
nlohmann::ordered_json json_of(const jobs::User& user);
std::string user_header();
std::string line_of(const jobs::User& user);

/// On a line, also what is no text.
void print(const nlohmann::ordered_json& json);

}  // namespace piracema::tools
