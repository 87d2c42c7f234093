#include "forecast/store/store_device.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "base/text.h"

namespace piracema::ckpt {

namespace {

// Mounted nowhere, and gone with its handle.
Fd open_debugfs() {
  const Fd context(static_cast<int>(::syscall(SYS_fsopen, "debugfs", FSOPEN_CLOEXEC)));
  if (!context) return Fd();
  if (::syscall(SYS_fsconfig, context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) {
    return Fd();
  }
  return Fd(
      static_cast<int>(::syscall(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC, MOUNT_ATTR_RDONLY)));
}

// A table is the disk's: its partitions share it.
std::string disk_of(dev_t device) {
  const std::string name = concat(major(device), ":", minor(device));
  const std::string block = concat("/sys/dev/block/", name);
  if (::access(concat(block, "/partition").c_str(), F_OK) != 0) return name;
  const Fd file(::open(concat(block, "/../dev").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 32> text{};
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  if (size <= 1) return name;
  return std::string(text.data(), static_cast<std::size_t>(size) - 1);
}

Fd open_table(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return Fd();
  const Fd debugfs = open_debugfs();
  if (!debugfs) return Fd();
  const std::string name = concat("bdi/", disk_of(status.st_dev), "/stats");
  return Fd(::openat(debugfs.get(), name.c_str(), O_RDONLY | O_CLOEXEC));
}

// From its begin; empty if it cannot be read any more.
std::string text_of(int file) {
  std::string text(8192, '\0');
  const ssize_t size = ::pread(file, text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

std::optional<double> kilobytes_after(std::string_view table, std::string_view line) {
  for (std::size_t at = 0; at < table.size();) {
    const std::size_t end = std::min(table.find('\n', at), table.size());
    std::string_view one = table.substr(at, end - at);
    at = end + 1;
    if (!one.starts_with(line)) continue;
    one.remove_prefix(std::min(one.find_first_not_of(' ', line.size()), one.size()));
    std::uint64_t number = 0;
    if (std::from_chars(one.data(), one.data() + one.size(), number).ec != std::errc()) break;
    return static_cast<double>(number);
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> sum_of_lines(std::string_view table, std::string_view first,
                                   std::string_view second) {
  const auto a = kilobytes_after(table, first), b = kilobytes_after(table, second);
  if (!a || !b) return std::nullopt;
  return (*a + *b) * 1024;
}

StoreDevice::StoreDevice(const std::string& path) : table_(open_table(path)) {}

double StoreDevice::dirty_bytes() const {
  if (table_) {
    const auto waiting = sum_of_lines(text_of(table_.get()), "BdiReclaimable:", "BdiWriteback:");
    if (waiting) return *waiting;
  }
  const Fd memory(::open("/proc/meminfo", O_RDONLY | O_CLOEXEC));
  return sum_of_lines(text_of(memory.get()), "Dirty:", "Writeback:").value_or(0);
}

}  // namespace piracema::ckpt
