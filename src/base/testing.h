#pragma once

#include <fcntl.h>
#include <piracema/bytes.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>

#include "base/ensure.h"
#include "base/fd.h"

/// What tests share that work on files and processes.
namespace piracema::testing {

/// An empty directory that is gone at the end of the scope.
class ScratchDirectory {
 public:
  ScratchDirectory() : ScratchDirectory(std::filesystem::temp_directory_path()) {}
  explicit ScratchDirectory(const std::filesystem::path& parent) {
    path_ = (parent / "piracema-test-XXXXXX").string();
    ENSURE(::mkdtemp(path_.data()) != nullptr);
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Makes the file if need be. Not by way of an empty file: ext4 would wait for the disk each time.
inline void overwrite(const std::string& path, std::string_view text) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ENSURE(::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  ENSURE(::ftruncate(fd.get(), static_cast<off_t>(text.size())) == 0);
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

/// What `f` throws.
template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

/// Runs `body` in a process of its own, because it changes what a process has only once (limits,
/// mounts). Returns what `body` does, or how the process ended.
inline std::string in_child(const std::function<std::string()>& body) {
  int ends[2];
  ENSURE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  ENSURE(child >= 0);
  if (child == 0) {
    ::close(ends[0]);
    const std::string answer = body();
    const bool told = ::write(ends[1], answer.data(), answer.size()) >= 0;
    ::_exit(told ? 0 : 1);
  }
  ::close(ends[1]);
  std::string answer;
  char room[512];
  for (ssize_t count; (count = ::read(ends[0], room, sizeof room)) > 0;) {
    answer.append(room, static_cast<std::size_t>(count));
  }
  ::close(ends[0]);
  int status = 0;
  ENSURE(::waitpid(child, &status, 0) == child);
  if (status != 0) answer += " (child ended with status " + std::to_string(status) + ")";
  return answer;
}

}  // namespace piracema::testing
