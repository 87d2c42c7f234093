#include "jobs/local/job_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"

namespace piracema::jobs {

Result<Done> JobFiles::prepare(bool for_others) const {
  const std::string jobs = directory_ + "/jobs";
  std::error_code failed;
  std::filesystem::create_directories(jobs, failed);
  if (failed) return Error{Errc::io, concat(jobs, ": ", failed.message())};
  if (!for_others) return Done{};
  struct stat status {};
  if (::stat(directory_.c_str(), &status) != 0 ||
      ::chmod(directory_.c_str(), status.st_mode | S_IXGRP | S_IXOTH) != 0) {
    return Error{Errc::io, with_errno(directory_)};
  }
  if (::chmod(jobs.c_str(), 0711) != 0) return Error{Errc::io, with_errno(jobs)};
  return Done{};
}

bool JobFiles::has_room(std::uint64_t bytes) const {
  struct statvfs room {};
  if (::statvfs(directory_.c_str(), &room) != 0) return true;
  // Some file systems do not count their files.
  const bool has_names = room.f_files == 0 || room.f_favail > 0;
  return has_names && std::uint64_t{room.f_bavail} * room.f_frsize >= bytes;
}

Result<Done> JobFiles::make(JobId job, const cluster::Account* account) const {
  const std::string place = place_of(job);
  if (::mkdir(place.c_str(), 0700) != 0 && errno != EEXIST) {
    return Error{Errc::io, with_errno(place)};
  }
  if (account == nullptr) return Done{};
  // Nobody but the node can put anything else there.
  if (::lchown(place.c_str(), account->uid, account->gid) == 0) return Done{};
  return Error{Errc::io, with_errno(place)};
}

std::string JobFiles::place_of(JobId job) const { return concat(directory_, "/jobs/", job); }

std::string JobFiles::beside_place(const Attempt& attempt, const char* ending) const {
  return concat(place_of(attempt.job), ".", attempt.attempt,
                attempt.part == 0 ? "" : concat(".", attempt.part), ending);
}

std::string JobFiles::log_of(const Attempt& attempt) const { return beside_place(attempt, ".log"); }

std::string JobFiles::hostfile_of(const Attempt& attempt) const {
  return beside_place(attempt, ".hosts");
}

std::string JobFiles::mpi_of(const Attempt& attempt) const {
  return concat(place_of(attempt.job), ".", attempt.attempt, ".mpi");
}

std::string JobFiles::address_file_of(const Attempt& attempt) const {
  return concat(place_of(attempt.job), "/.http.", attempt.attempt);
}

void JobFiles::write_hosts(const std::string& file, const std::vector<HostOfOrder>& hosts,
                           std::uint32_t slots) {
  std::error_code failed;
  const std::string next = file + ".new";
  std::ofstream out(next);
  for (const HostOfOrder& host : hosts) {
    out << host.name << '=' << host.address << " slots=" << slots;
    if (!host.site.empty()) out << " site=" << host.site;
    out << '\n';
  }
  out.close();
  if (out) std::filesystem::rename(next, file, failed);
  if (!out || failed) log(Level::warning, concat("the file of hosts '", file, "' is not written"));
}

// What is too much is not told, and stays in the file.
std::optional<JobLog::Piece> JobLog::next() {
  const Fd file(::open(file_.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return std::nullopt;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size <= read_) return std::nullopt;
  const std::uint64_t from =
      std::max(read_, size - std::min(size, std::uint64_t{output_bytes_max}));
  std::string text(size - from, '\0');
  const ssize_t count = ::pread(file.get(), text.data(), text.size(), static_cast<off_t>(from));
  if (count <= 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(count));
  read_ = from + text.size();
  return Piece{from, std::move(text)};
}

std::string JobLog::last_words(std::size_t most) const {
  const Fd file(::open(file_.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text(most, '\0');
  const off_t size = file ? ::lseek(file.get(), 0, SEEK_END) : 0;
  const ssize_t count = ::pread(file.get(), text.data(), text.size(),
                                std::max<off_t>(0, size - static_cast<off_t>(text.size())));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, count)));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

void JobLog::remove() const { ::unlink(file_.c_str()); }

}  // namespace piracema::jobs
