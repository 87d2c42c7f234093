#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Memory of a job that is in no file that has a name. Only root may have the kernel give it to
/// criu as a file. Where no process has a descriptor of it (criu_preload.h) criu 4.2 takes it for
/// shared memory that is mapped from its beginning and reached by nobody but who maps it, and saves
/// something else, without a word, where it is not.
namespace piracema::ckpt {

/// A line of /proc/PID/maps.
struct MappedPiece {
  std::uint64_t begin = 0, end = 0, offset = 0, inode = 0;
  bool shared = false;
  /// As the kernel words it: "00:01".
  std::string device;
  std::string name;
};

struct ProcessMemory {
  pid_t pid = 0;
  std::vector<MappedPiece> pieces;
  /// Device and inode of what it has open; of any one of a job, also of what has a name in the
  /// capsule's /dev/shm.
  std::set<std::pair<std::string, std::uint64_t>> open;
};

/// From the text of /proc/PID/maps; lines that are not understood are passed by.
std::vector<MappedPiece> parse_maps(std::string_view text);

/// Memory without a name that criu would not save as it is, in words; empty if there is none.
std::string memory_saved_wrongly(const std::vector<ProcessMemory>& job);

/// Of the tree of this process, which is frozen.
std::string memory_saved_wrongly(pid_t root);

}  // namespace piracema::ckpt
