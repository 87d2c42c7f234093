#include "ckpt_program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <filesystem>
#include <random>

#include "arguments.h"
#include "base/text.h"
#include "ckpt/criu.h"

namespace piracema::tools {

using namespace ckpt;

namespace {

bool are_one_file(int a, int b) {
  struct stat first {
  }, second{};
  return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

std::uint64_t draw() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

}  // namespace

std::string this_program() {
  std::array<char, PATH_MAX> room;
  const ssize_t length = ::readlink("/proc/self/exe", room.data(), room.size());
  return length > 0 ? std::string(room.data(), static_cast<std::size_t>(length)) : "piracema";
}

Result<RunSettings> run_settings(const std::string& criu, const std::string& every,
                                 std::uint32_t keep, bool quiet) {
  RunSettings settings{.program = this_program(), .keep = keep, .quiet = quiet};
  if (!every.empty()) {
    const auto time = parse_duration(every);
    if (!time) return Error{Errc::usage, "--every: " + time.error().message};
    settings.keeper.every = *time;
  }
  if (::geteuid() != 0) {
    return Error{Errc::config, "want root, for namespaces and criu; see piracema ckpt doctor"};
  }
  auto found = find_criu(criu);
  if (!found) return found.error();
  settings.criu = found->path;
  return settings;
}

Result<JobFile> new_job(JobDirectory& directory, std::vector<std::string> command) {
  const auto old = directory.read();
  ImageStore images(directory);
  if (!old && old.error().code != Errc::not_found) return old.error();
  if (old && !old->ended) {
    const auto left = images.list();
    if (!left) return left.error();
    if (!left->empty()) {
      return Error{Errc::config, concat(directory.path(),
                                        ": holds images of a job that has not "
                                        "ended: resume it, or use another directory")};
    }
  }
  if (auto cleared = images.clear(); !cleared) return cleared.error();
  JobFile job{.id = draw(),
              .command = std::move(command),
              .working_directory = std::filesystem::current_path().string(),
              .one_output = are_one_file(STDOUT_FILENO, STDERR_FILENO)};
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  job.host_name = host.data();
  if (auto written = directory.write(job); !written) return written.error();
  for (const std::string& path : {directory.stdout_path(), directory.stderr_path()}) {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  return job;
}

}  // namespace piracema::tools
