#include "ckpt/queue/queued_program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>

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

// As execvp(3) looks for it. 0, or what is wrong with the file.
int why_not_run(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return EACCES;
  return ::access(file.c_str(), X_OK) == 0 ? 0 : errno;
}

std::string path_of(const QueuedJob& job) {
  constexpr std::string_view name = "PATH=";
  for (const std::string& one : job.environment) {
    if (one.starts_with(name)) return one.substr(name.size());
  }
  return "/bin:/usr/bin";
}

}  // namespace

Result<Done> check_program(const QueuedJob& job) {
  const std::string& word = job.command.front();
  const std::filesystem::path place = job.working_directory;
  int why = ENOENT;
  if (word.find('/') != word.npos) {
    why = why_not_run(place / word);
  } else {
    std::istringstream directories(path_of(job));
    for (std::string one; why != 0 && std::getline(directories, one, ':');) {
      const int found = why_not_run(place / one / word);
      if (found == 0 || found == EACCES) why = found;
    }
  }
  if (why == 0) return Done{};
  return Error{Errc::config, concat("'", word, "' cannot be run: ", std::strerror(why))};
}

OwnProgram stream_program(const QueuedJob& job, const std::string& log) {
  OwnProgram program{job.command, job.environment, job.working_directory, log, log};
  if (job.command.size() >= 2 && has_snapshot(job)) {
    program.words.insert(program.words.begin() + 2, "--resume");
  }
  return program;
}

OwnProgram keeper_program(const QueuedJob& job, const std::string& program,
                          std::optional<Time> left, double risk, bool compress,
                          const std::string& log) {
  OwnProgram keeper{
      .environment = job.environment, .working_directory = job.working_directory, .errors = log};
  const auto ms = left ? *left / std::chrono::milliseconds(1) : std::int64_t{0};
  keeper.words = {program,  "ckpt",
                  "window", "--quiet",
                  "--dir",  job.directory,
                  "--for",  left ? concat(std::max<std::int64_t>(ms, 1), "ms") : no_close,
                  "--risk", std::to_string(100 * risk)};
  if (compress) keeper.words.emplace_back("--compress");
  keeper.words.emplace_back("--");
  keeper.words.insert(keeper.words.end(), job.command.begin(), job.command.end());
  return keeper;
}

}  // namespace piracema::ckpt
