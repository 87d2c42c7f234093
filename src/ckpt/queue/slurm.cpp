#include "ckpt/queue/slurm.h"

namespace piracema::ckpt {

namespace {

// By how much the warning may be off, and by how much an end may move without a reason.
constexpr std::time_t warning_error = 45, end_error = 5;

// "2026-11-21T20:00:00", local; "Unknown" and "None" are none.
std::time_t parse_time(const std::string& text) {
  std::tm fields{};
  if (::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &fields) == nullptr) return 0;
  fields.tm_isdst = -1;
  return ::mktime(&fields);
}

}  // namespace

std::string slurm_value(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '\n';
    const std::size_t value = at + name.size() + 1;
    if (!begins || value > text.size() || text[value - 1] != '=') continue;
    const std::size_t end = text.find_first_of(" \n", value);
    return std::string(text.substr(value, end == text.npos ? end : end - value));
  }
  return {};
}

SlurmJob parse_slurm_job(const std::string& text) {
  return {slurm_value(text, "JobState"), parse_time(slurm_value(text, "EndTime")),
          parse_time(slurm_value(text, "PreemptTime"))};
}

bool means_preemption(const SlurmJob& was, const SlurmJob& is, std::time_t now,
                      int warning_seconds) {
  if (is.preempted != 0) return true;
  if (is.ends == 0) return true;  // Nothing is known: better early than never.
  if (was.ends != 0 && is.ends + end_error < was.ends) return true;
  return is.ends - now > warning_seconds + warning_error;
}

bool is_to_be_requeued(const SlurmJob& job) { return job.state == "RUNNING"; }

}  // namespace piracema::ckpt
