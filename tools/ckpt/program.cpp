#include "tools/ckpt/program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <filesystem>
#include <random>
#include <sstream>
#include <string_view>

#include "base/host_name.h"
#include "base/log.h"
#include "base/parse.h"
#include "base/text.h"
#include "ckpt/capsule/criu.h"
#include "ckpt/capsule/door.h"
#include "ckpt/capsule/rsh.h"
#include "ckpt/capsule/user_namespace.h"
#include "ckpt/hosts/host_agent.h"
#include "ckpt/hosts/job_program.h"
#include "ckpt/image/image_copy.h"
#include "ckpt/image/local_images.h"
#include "ckpt/image/partner_images.h"
#include "ckpt/image/partner_link.h"
#include "ckpt/keeper/draining.h"
#include "tools/arguments.h"

namespace piracema::tools {

using namespace ckpt;

namespace {

// A byte of their capsules' addresses tells them apart.
constexpr std::size_t hosts_max = 250;

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

Result<std::vector<std::string>> parse_hosts(const std::string& text) {
  std::vector<std::string> hosts;
  std::istringstream words(text);
  for (std::string one; std::getline(words, one, ',');) {
    // It becomes a word of a remote shell's command, and must not be taken for an option of it.
    if (one.empty() || one.front() == '-' || one.find_first_of(" \t'\"\\$`;&|<>()") != one.npos) {
      return Error{Errc::usage, concat("--hosts: want names such as a,b; found '", text, "'")};
    }
    hosts.push_back(one);
  }
  if (hosts.empty() || hosts.size() > hosts_max) {
    return Error{Errc::usage, concat("--hosts: want 1 to ", hosts_max, " names")};
  }
  return hosts;
}

}  // namespace

std::optional<int> run_ckpt_part(int argc, char** argv) {
  if (argc < 3 || std::string_view(argv[1]) != "ckpt") return std::nullopt;
  const std::string_view part = argv[2];
  if (part == "agent") return HostAgent(this_program()).run();
  if (part == "door") return run_door();
  if (part == "copy") return run_copy({argv + 3, argv + argc});
  if (part == "send") return run_send({argv + 3, argv + argc});
  if (part == "partner") return run_partner({argv + 3, argv + argc});
  if (part == "rsh") return run_rsh({argv + 3, argv + argc});
  return std::nullopt;
}

Result<Done> apply_hosts(const std::string& hosts, const std::string& rsh, const std::string& criu,
                         JobDirectory& directory, JobFile& job, RunSettings& settings) {
  const auto images = ImageStore(directory).list();
  if (!images) return images.error();
  if (!hosts.empty()) {
    auto named = parse_hosts(hosts);
    if (!named) return named.error();
    if (!images->empty() && named->size() != job.hosts.size()) {
      return Error{Errc::usage,
                   concat("--hosts: want as many as the job was saved on, which is ",
                          std::max<std::size_t>(job.hosts.size(), 1), "; found ", named->size())};
    }
    job.hosts = *std::move(named);
    if (auto written = directory.write(job); !written) return written;
  }
  if (job.hosts.empty()) return Done{};
  settings.place.several = {.hosts = job.hosts, .rsh = rsh, .criu = criu};
  // What a job was saved with is what it goes on with.
  if (!images->empty()) return Done{};
  return copy_job_program(directory, settings.place.program);
}

Result<Done> apply_local(const std::string& local, bool several, JobDirectory& directory,
                         JobFile& job, RunSettings& settings) {
  std::string wanted = local.empty() ? job.local : local == "none" ? "" : local;
  if (!wanted.empty() && wanted.front() != '/') {
    return Error{
        Errc::usage,
        concat("--local: want a directory that begins with / or none; found '", local, "'")};
  }
  if (several && !wanted.empty()) {
    log(Level::warning, "--local: a job of several hosts is saved straight to the store");
    wanted.clear();
  }
  if (wanted.empty() && job.local.empty()) return Done{};
  if (wanted != job.local) {
    const auto brought = bring_to_store(job, directory);
    if (!brought) return brought.error();
    if (*brought)
      log(Level::info,
          concat("image ", **brought, " was on this node's disk alone, and is in the store now"));
    drop_local_images(job);
  }
  const JobFile before = job;
  job.local.clear();
  job.local_mark.clear();
  if (!wanted.empty()) {
    auto opened = LocalImages::open(wanted, before, job);
    if (opened) {
      settings.local = *std::move(opened);
    } else {
      log(Level::warning, concat("--local: ", opened.error().message,
                                 ": images are written straight to the store"));
    }
  }
  return directory.write(job);
}

Result<Done> apply_partner(const std::string& partner, const std::string& rsh,
                           JobDirectory& directory, JobFile& job, RunSettings& settings) {
  std::string wanted = partner.empty() ? job.partner : partner == "none" ? "" : partner;
  // There is nothing that would be on this node alone.
  if (!settings.local) wanted.clear();
  if (wanted.empty() && job.partner.empty()) return Done{};
  job.partner = wanted;
  if (!wanted.empty()) {
    auto place = parse_partner(wanted);
    if (!place) return Error{place.error().code, "--partner: " + place.error().message};
    if (auto copied = copy_job_program(directory, settings.place.program); !copied) return copied;
    settings.partner = *std::move(place);
    settings.rsh = rsh;
  }
  return directory.write(job);
}

Result<std::vector<ImageId>> good_images_of(JobDirectory& directory, const JobFile& job) {
  const auto all = ImageStore(directory).list();
  if (!all) return all.error();
  std::vector<ImageId> good = good_images(*all);
  for (const Manifest& one : look_at_local_images(job)) good.push_back(one.image);
  std::ranges::sort(good);
  const auto twice = std::ranges::unique(good);
  good.erase(twice.begin(), twice.end());
  return good;
}

std::string this_program() {
  std::array<char, PATH_MAX> room;
  const ssize_t length = ::readlink("/proc/self/exe", room.data(), room.size());
  return length > 0 ? std::string(room.data(), static_cast<std::size_t>(length)) : "piracema";
}

Result<RunSettings> run_settings(const std::string& criu, const std::string& every,
                                 std::uint32_t keep, bool quiet) {
  RunSettings settings{.place = {.program = this_program()}, .keep = keep, .quiet = quiet};
  if (!every.empty()) {
    const auto time = parse_duration(every);
    if (!time) return Error{Errc::usage, "--every: " + time.error().message};
    settings.keeper.every = *time;
  }
  if (auto may = check_may_make_capsules(); !may) return may.error();
  auto found = find_criu(criu);
  if (!found) return found.error();
  settings.place.criu = found->path;
  return settings;
}

Result<JobFile> new_job(JobDirectory& directory, std::vector<std::string> command) {
  const auto old = directory.read();
  ImageStore images(directory);
  if (!old && old.error().code != Errc::not_found) return old.error();
  const auto left = images.list();
  if (!left) return left.error();
  if (!old && !left->empty()) {
    return Error{Errc::config, concat(directory.path(),
                                      ": holds images of a job whose job.json is not there: put "
                                      "it back, remove them, or use another directory")};
  }
  if (old && !old->ended) {
    if (!left->empty() || !look_at_local_images(*old).empty()) {
      return Error{Errc::config, concat(directory.path(),
                                        ": holds images of a job that has not "
                                        "ended: resume it, or use another directory")};
    }
  }
  if (auto cleared = images.clear(); !cleared) return cleared.error();
  if (old) drop_local_images(*old);
  JobFile job{.id = draw(),
              .command = std::move(command),
              .working_directory = std::filesystem::current_path().string(),
              .one_output = are_one_file(STDOUT_FILENO, STDERR_FILENO)};
  job.host_name = host_name();
  if (auto written = directory.write(job); !written) return written.error();
  for (const std::string& path : {directory.stdout_path(), directory.stderr_path()}) {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  return job;
}

}  // namespace piracema::tools
