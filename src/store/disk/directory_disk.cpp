#include "store/disk/directory_disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <thread>

#include "base/ensure.h"
#include "base/retry.h"
#include "base/text.h"
#include "store/disk/directory.h"
#include "store/disk/file_lock.h"
#include "store/disk/files.h"

namespace piracema::store {

namespace {

constexpr std::string_view disk_lock_name = ".lock";
/// They wait for the disk and do nothing else.
constexpr std::size_t sync_threads_max = 16;

// What `replace` makes a file of before it has its name.
bool is_temporary(std::string_view name) { return name.find(".tmp-") != name.npos; }

Result<std::vector<std::string>> names_in(const std::string& path) {
  std::vector<std::string> names;
  auto read = each_name(path, [&](std::string_view name) {
    if (name[0] != '.') names.emplace_back(name);
    return true;
  });
  if (!read) return read.error();
  std::sort(names.begin(), names.end());
  return names;
}

class RealFile final : public DiskFile {
 public:
  explicit RealFile(ReadableFile file) : file_(std::move(file)) {}

  std::uint64_t bytes() const override { return file_.bytes; }

  Result<Done> read(std::uint64_t offset, std::span<std::byte> room) override {
    return read_at(file_, offset, room);
  }

  Result<Done> write(std::uint64_t offset, Bytes bytes) override {
    ENSURE(offset + bytes.size() <= file_.bytes);
    while (!bytes.empty()) {
      const ssize_t count = retry([&] {
        return ::pwrite(file_.fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      });
      if (count < 0) return io_error(file_.path, "cannot write");
      bytes = bytes.subspan(static_cast<std::size_t>(count));
      offset += static_cast<std::uint64_t>(count);
    }
    return Done{};
  }

  // Not called again if it fails: the second call would say that all is well.
  Result<Done> sync() override {
    if (retry([&] { return ::fdatasync(file_.fd.get()); }) < 0) {
      return io_error(file_.path, "cannot sync");
    }
    return Done{};
  }

 private:
  ReadableFile file_;
};

// Room that nobody else can take, so that a full disk is noticed now and not in a write.
bool allocate(int fd, std::uint64_t bytes) {
  const auto size = static_cast<off_t>(bytes);
  if (size == 0 || retry([&] { return ::fallocate(fd, 0, 0, size); }) == 0) return true;
  return errno == EOPNOTSUPP && retry([&] { return ::ftruncate(fd, size); }) == 0;
}

}  // namespace

Result<std::unique_ptr<DirectoryDisk>> DirectoryDisk::open(const std::string& path,
                                                           std::string_view whom) {
  if (::mkdir(path.c_str(), 0700) < 0 && errno != EEXIST) {
    return io_error(path, "cannot make directory");
  }
  struct stat status {};
  if (::stat(path.c_str(), &status) < 0) return io_error(path, "cannot open");
  if (!S_ISDIR(status.st_mode)) {
    return Error{Errc::config, concat(path, ": want a directory for one ", whom, ", found a file")};
  }
  auto lock = lock_file(concat(path, "/", disk_lock_name), whom);
  if (!lock) return lock.error();
  // The directory's own name.
  if (auto synced = sync_directory(concat(path, "/..")); !synced) return synced.error();
  // A process that had the lock before was ended while it wrote these.
  auto names = names_in(path);
  if (!names) return names.error();
  for (const std::string& name : *names) {
    if (is_temporary(name)) ::unlink(concat(path, "/", name).c_str());
  }
  return std::make_unique<DirectoryDisk>(path, *std::move(lock));
}

std::string DirectoryDisk::path_of(const std::string& name) const {
  ENSURE(!name.empty() && name.front() != '.' && name.front() != '/');
  ENSURE(name.find("/.") == std::string::npos && name.find("//") == std::string::npos);
  return concat(path_, "/", name);
}

Result<std::vector<std::string>> DirectoryDisk::list() { return names_in(path_); }

Result<std::unique_ptr<DiskFile>> DirectoryDisk::create(const std::string& name,
                                                        std::uint64_t bytes) {
  const std::string path = path_of(name);
  if (auto removed = remove(name); !removed) return removed.error();
  Fd fd(retry([&] {
    return ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  }));
  if (!fd) return io_error(path, "cannot create");
  if (!allocate(fd.get(), bytes)) {
    const Error error = io_error(path, concat("no room for ", bytes, " bytes"));
    ::unlink(path.c_str());
    return error;
  }
  return std::unique_ptr<DiskFile>(
      std::make_unique<RealFile>(ReadableFile{path, std::move(fd), bytes}));
}

Result<std::unique_ptr<DiskFile>> DirectoryDisk::open(const std::string& name) {
  auto file = open_for_reading(path_of(name));
  if (!file) return file.error();
  Fd both(retry(
      [&] { return ::open(file->path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); }));
  if (!both) return io_error(file->path, "cannot open for writing");
  file->fd = std::move(both);
  return std::unique_ptr<DiskFile>(std::make_unique<RealFile>(*std::move(file)));
}

Result<Done> DirectoryDisk::replace(const std::string& name, std::span<const Bytes> pieces) {
  if (auto written = replace_file(path_of(name), pieces); !written) return written;
  return sync_names();
}

Result<Done> DirectoryDisk::remove(const std::string& name) {
  const std::string path = path_of(name);
  if (::unlink(path.c_str()) < 0 && errno != ENOENT) return io_error(path, "cannot remove");
  return Done{};
}

Result<Done> DirectoryDisk::sync_names() { return sync_directory(path_); }

// A disk is asked to empty its cache once for all that wait at the same time, and a journal written
// once: many small files cost little more than one.
Result<Done> DirectoryDisk::sync_files(std::span<const std::string> names,
                                       const std::function<void()>& meanwhile) {
  // All of it may be on its way before anybody waits. Errors are those of the syncs.
  for (const std::string& name : names) {
    const Fd file(::open(path_of(name).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    (void)::sync_file_range(file.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
  }
  std::vector<Result<Done>> done(names.size(), Done{});
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < names.size(); i = next++) {
      auto file = open(names[i]);
      done[i] = file ? (*file)->sync() : Result<Done>(file.error());
    }
  };
  std::vector<std::thread> threads;
  while (threads.size() < std::min(names.size(), sync_threads_max)) threads.emplace_back(work);
  meanwhile();
  for (std::thread& thread : threads) thread.join();
  for (Result<Done>& one : done) {
    if (!one) return std::move(one);
  }
  return Done{};
}

}  // namespace piracema::store
