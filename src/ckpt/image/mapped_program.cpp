#include "ckpt/image/mapped_program.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "base/hex.h"
#include "base/text.h"
#include "store/disk/files.h"
#include "wire/checksum.h"

namespace piracema::ckpt {

namespace {

// A linker puts the build ID, which differs with any byte of the rest, among the headers.
constexpr std::uint64_t head_bytes = 4096;

// proc(5): "ADDRESSES PERMISSIONS OFFSET DEVICE INODE PATH", where a path may have blanks in it.
std::string program_of(const std::string& line) {
  const std::size_t permissions = line.find(' '), path = line.find('/');
  if (path == line.npos || permissions + 3 >= path || line[permissions + 3] != 'x') return {};
  if (line.ends_with(" (deleted)") || line.compare(path, 9, "/dev/shm/") == 0) return {};
  return line.substr(path);
}

std::string text_of(const ProgramRecord& program) {
  return concat(program.bytes, " bytes, build ", store::to_hex(program.build));
}

}  // namespace

Result<ProgramRecord> look_at_program(const std::string& path) {
  const auto file = store::open_for_reading(path);
  if (!file) return Error{Errc::io, file.error().message};
  Buffer head;
  head.resize(static_cast<std::size_t>(std::min(head_bytes, file->bytes)));
  if (auto read = store::read_at(*file, 0, {head.data(), head.size()}); !read) {
    return Error{Errc::io, read.error().message};
  }
  return ProgramRecord{path, file->bytes, wire::checksum(head)};
}

Result<std::vector<ProgramRecord>> mapped_programs(const std::vector<pid_t>& processes) {
  std::set<std::string> paths;
  for (const pid_t pid : processes) {
    std::ifstream maps(concat("/proc/", pid, "/maps"));
    for (std::string line; std::getline(maps, line);) {
      if (const std::string path = program_of(line); !path.empty()) paths.insert(path);
    }
  }
  std::vector<ProgramRecord> found;
  for (const std::string& path : paths) {
    auto program = look_at_program(path);
    if (!program) return program.error();
    found.push_back(*std::move(program));
  }
  return found;
}

Result<Done> check_programs(const std::vector<ProgramRecord>& saved) {
  for (const ProgramRecord& was : saved) {
    const auto is = look_at_program(was.path);
    if (!is) {
      return Error{Errc::failed, concat(is.error().message, ", and the job was saved with it (",
                                        text_of(was), ")")};
    }
    if (is->bytes == was.bytes && is->build == was.build) continue;
    return Error{Errc::failed,
                 concat("the job was saved with another ", was.path, ": then ", text_of(was),
                        ", now ", text_of(*is), "; it goes on with that one alone")};
  }
  return Done{};
}

}  // namespace piracema::ckpt
