// The write-ahead log beside a plain loop of write and fdatasync, in turns in one run: what a
// record costs when each is synced alone, when a hundred share a sync (as with a hundred operations
// outstanding), and in memory alone.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/ensure.h"
#include "base/fd.h"
#include "bench/common/arguments.h"
#include "store/disk/directory_disk.h"
#include "store/disk/memory_disk.h"
#include "store/log/log_file.h"

using namespace piracema;
using namespace piracema::store;

namespace {

struct Timing {
  double records_per_s = 0;
  /// Of one sync with all that belongs to it.
  double median_us = 0, p99_us = 0;
};

// Calls `commit`, which makes `records` durable, until `seconds` are over.
Timing measure(double seconds, std::size_t records, const std::function<void()>& commit) {
  std::vector<double> each;
  const Time begin = now(), end = begin + Time(static_cast<std::int64_t>(seconds * 1e9));
  Time last = begin;
  while (last < end) {
    commit();
    const Time done = now();
    each.push_back(static_cast<double>((done - last).count()) / 1e3);
    last = done;
  }
  std::sort(each.begin(), each.end());
  return {static_cast<double>(each.size() * records) * 1e9 /
              static_cast<double>((last - begin).count()),
          each[each.size() / 2], each[each.size() * 99 / 100]};
}

void print(const char* what, const Timing& timing) {
  std::printf("  %-44s %10.0f records/s   a sync %7.0f us, p99 %7.0f us\n", what,
              timing.records_per_s, timing.median_us, timing.p99_us);
}

// A file that was written once, so that a sync has nothing to allocate: the best a loop can do.
Timing plain_loop(const std::string& directory, double seconds, std::size_t bytes) {
  const std::string path = directory + "/plain";
  const std::size_t file_bytes = std::size_t{16} << 20;
  {
    const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    const std::vector<std::byte> zeros(file_bytes);
    ENSURE(::write(fd.get(), zeros.data(), file_bytes) == static_cast<ssize_t>(file_bytes));
    ENSURE(::fsync(fd.get()) == 0);
  }
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  const std::vector<std::byte> record(bytes, std::byte{7});
  std::size_t at = 0;
  const Timing timing = measure(seconds, 1, [&] {
    if (at + bytes > file_bytes) at = 0;
    ENSURE(::pwrite(fd.get(), record.data(), bytes, static_cast<off_t>(at)) ==
           static_cast<ssize_t>(bytes));
    ENSURE(::fdatasync(fd.get()) == 0);
    at += bytes;
  });
  ::unlink(path.c_str());
  return timing;
}

Timing log(Disk& disk, double seconds, std::size_t bytes, std::size_t together) {
  ENSURE(LogFile::erase(disk).ok());
  auto log =
      LogFile::open(disk, {.owner = 1}, [](LogSequence, Bytes) -> Result<Done> { return Done{}; });
  ENSURE(log.ok());
  const std::vector<std::byte> record(bytes, std::byte{7});
  LogGroup group;
  const Timing timing = measure(seconds, together, [&] {
    for (std::size_t i = 0; i < together; ++i) group.add(record);
    const auto last = (*log)->commit(group);
    ENSURE(last.ok());
    (*log)->truncate(*last > 1'000 ? *last - 1'000 : 1);
  });
  ENSURE(LogFile::erase(disk).ok());
  return timing;
}

}  // namespace

int main(int argc, char** argv) {
  bench::Arguments arguments(
      "Measures the write-ahead log beside a plain loop of write and fdatasync.");
  std::string directory = "/var/tmp";
  std::size_t bytes = 200;
  double seconds = 2;
  int rounds = 3;
  arguments.text("--directory", directory, "On the disk to measure");
  arguments.number("--bytes", bytes, "Of a record", {1, 1 << 20});
  arguments.number("--seconds", seconds, "Of each measurement", {0.1, 60.0});
  arguments.number("--rounds", rounds, "Of all of them", {1, 100});
  if (const auto code = arguments.parse(argc, argv)) return *code;

  std::string place = directory + "/piracema-log-XXXXXX";
  if (::mkdtemp(place.data()) == nullptr) {
    std::fprintf(stderr, "bench_smr_log: --directory: want one to write to, found '%s'\n",
                 directory.c_str());
    return 2;
  }
  {
    auto disk = DirectoryDisk::open(place, "benchmark");
    ENSURE(disk.ok());
    std::printf("records of %zu bytes, %s\n", bytes, directory.c_str());
    for (int round = 0; round < rounds; ++round) {
      std::printf("round %d\n", round + 1);
      print("plain loop, pwrite and fdatasync each", plain_loop(place, seconds, bytes));
      print("log, a sync for each record", log(**disk, seconds, bytes, 1));
      print("log, a sync for 100 records", log(**disk, seconds, bytes, 100));
    }
    MemoryDisk memory;
    print("log in memory, 100 records: the log itself", log(memory, seconds / 4, bytes, 100));
  }
  std::filesystem::remove_all(place);
}
