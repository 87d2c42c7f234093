#include "ckpt/queue/queued_program.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"

namespace piracema::ckpt {

namespace {

/// Of a window without an end.
constexpr const char* no_close = "720h";

// Whether the directory after `--snapshots` has a complete one (docs/formats/snapshot.md).
bool has_snapshot(const QueuedJob& job) {
  const auto option = std::find(job.command.begin(), job.command.end(), "--snapshots");
  if (option == job.command.end() || option + 1 == job.command.end()) return false;
  std::error_code ignored;
  const auto path = std::filesystem::path(job.working_directory) / *(option + 1);
  for (const auto& entry : std::filesystem::directory_iterator(path, ignored)) {
    if (std::filesystem::exists(entry.path() / "manifest.json", ignored)) return true;
  }
  return false;
}

}  // namespace

OwnProgram stream_program(const QueuedJob& job, const std::string& log) {
  OwnProgram program{job.command, job.environment, job.working_directory, log, log};
  if (job.command.size() >= 2 && has_snapshot(job)) {
    program.words.insert(program.words.begin() + 2, "--resume");
  }
  return program;
}

OwnProgram keeper_program(const QueuedJob& job, const std::string& program,
                          std::optional<Time> left, bool compress, const std::string& log) {
  OwnProgram keeper{
      .environment = job.environment, .working_directory = job.working_directory, .errors = log};
  const auto ms = left ? *left / std::chrono::milliseconds(1) : std::int64_t{0};
  keeper.words = {program,  "ckpt",
                  "window", "--quiet",
                  "--dir",  job.directory,
                  "--for",  left ? concat(std::max<std::int64_t>(ms, 1), "ms") : no_close};
  if (compress) keeper.words.emplace_back("--compress");
  keeper.words.emplace_back("--");
  keeper.words.insert(keeper.words.end(), job.command.begin(), job.command.end());
  return keeper;
}

}  // namespace piracema::ckpt
