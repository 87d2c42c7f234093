#include "ckpt/capsule/unnamed_memory.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/text.h"
#include "os/process_tree.h"

namespace piracema::ckpt {

namespace {

using Inode = std::pair<std::string, std::uint64_t>;

constexpr std::string_view without_root = ", which only root can save";

bool has_no_name(const MappedPiece& piece) { return piece.name.ends_with(" (deleted)"); }

// Never in any directory. criu does not look for a descriptor of it.
bool is_memfd(const MappedPiece& piece) { return piece.name.starts_with("/memfd:"); }

// As "[heap]" is; "socket:[17]" and "anon_inode:[perf_event]" are of the kernel.
bool is_of_kernel(const MappedPiece& piece) {
  return !piece.name.empty() && piece.name.front() != '/' && piece.name.front() != '[';
}

Inode inode_of(const MappedPiece& piece) { return {piece.device, piece.inode}; }

// What criu reads is the memory behind the first piece, as much as anybody has of it.
bool begins_with_all(const std::vector<const MappedPiece*>& pieces, std::uint64_t bytes) {
  std::uint64_t there = 0, at = pieces.front()->begin;
  for (const MappedPiece* piece : pieces) {
    if (piece->offset != there || piece->begin != at) break;
    there += piece->end - piece->begin;
    at = piece->end;
  }
  return there >= bytes;
}

std::string text_of_device(dev_t device) {
  std::array<char, 32> room;
  std::snprintf(room.data(), room.size(), "%02x:%02x", major(device), minor(device));
  return room.data();
}

ProcessMemory look_at(pid_t pid) {
  ProcessMemory memory{.pid = pid};
  std::ostringstream text;
  text << std::ifstream(concat("/proc/", pid, "/maps")).rdbuf();
  memory.pieces = parse_maps(text.str());
  return memory;
}

}  // namespace

std::vector<MappedPiece> parse_maps(std::string_view text) {
  std::vector<MappedPiece> pieces;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    unsigned long begin = 0, end = 0, offset = 0, inode = 0;
    std::array<char, 5> permissions{};
    std::array<char, 32> device{};
    int name = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx %31s %lu %n", &begin, &end, permissions.data(),
                    &offset, device.data(), &inode, &name) < 6)
      continue;
    pieces.push_back({.begin = begin,
                      .end = end,
                      .offset = offset,
                      .inode = inode,
                      .shared = permissions[3] == 's',
                      .device = device.data(),
                      .name = line.substr(static_cast<std::size_t>(name))});
  }
  return pieces;
}

std::string memory_saved_wrongly(const std::vector<ProcessMemory>& job) {
  std::set<Inode> open;
  for (const ProcessMemory& process : job) open.insert(process.open.begin(), process.open.end());
  // Where there is a descriptor or another name criu has a file to save.
  const auto is_a_file = [&](const MappedPiece& piece) {
    return !has_no_name(piece) || (!is_memfd(piece) && open.count(inode_of(piece)) != 0);
  };
  std::map<Inode, std::uint64_t> bytes;
  for (const ProcessMemory& process : job) {
    for (const MappedPiece& piece : process.pieces) {
      const std::string has = concat("process ", process.pid, " has ");
      if (is_of_kernel(piece) || (!is_a_file(piece) && !piece.shared)) {
        return concat(has, "memory of ", piece.name, without_root);
      }
      if (is_a_file(piece)) continue;
      if (open.count(inode_of(piece)) != 0) {
        return concat(has, piece.name, " mapped, which is open as well", without_root);
      }
      std::uint64_t& all = bytes[inode_of(piece)];
      all = std::max(all, piece.offset + (piece.end - piece.begin));
    }
  }
  for (const ProcessMemory& process : job) {
    std::map<Inode, std::vector<const MappedPiece*>> mapped;
    for (const MappedPiece& piece : process.pieces) {
      if (!is_a_file(piece)) mapped[inode_of(piece)].push_back(&piece);
    }
    for (const auto& [inode, pieces] : mapped) {
      if (begins_with_all(pieces, bytes[inode])) continue;
      return concat("process ", process.pid, " has a part of ", pieces.front()->name, without_root);
    }
  }
  return {};
}

std::string memory_saved_wrongly(pid_t root) {
  std::vector<ProcessMemory> job;
  bool any = false;
  for (const JobProcess& process : tree_of(all_processes(), root)) {
    job.push_back(look_at(process.pid));
    any = any || std::any_of(job.back().pieces.begin(), job.back().pieces.end(), has_no_name);
  }
  for (ProcessMemory& process : job) {
    if (!any) break;
    for (const OpenFile& file : open_files(process.pid)) {
      struct stat status {};
      if (::stat(concat("/proc/", file.pid, "/fd/", file.fd).c_str(), &status) != 0) continue;
      process.open.insert({text_of_device(status.st_dev), status.st_ino});
    }
  }
  std::error_code ended;
  for (std::filesystem::recursive_directory_iterator at("/dev/shm", ended), none;
       any && !ended && at != none; at.increment(ended)) {
    struct stat status {};
    if (::lstat(at->path().c_str(), &status) != 0) continue;
    job.front().open.insert({text_of_device(status.st_dev), status.st_ino});
  }
  return memory_saved_wrongly(job);
}

}  // namespace piracema::ckpt
