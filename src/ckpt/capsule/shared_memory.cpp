#include "ckpt/capsule/shared_memory.h"

#include <vector>

#include "base/text.h"
#include "os/helper.h"

namespace piracema::ckpt {

namespace {

Result<Done> run_tar(const std::vector<std::string>& words) {
  const auto end = run_helper(words);
  if (!end) return end.error();
  if (end->status != 0) return Error{Errc::io, concat("/dev/shm: ", last_line(end->output))};
  return Done{};
}

std::string archive_in(const std::string& parts) {
  return concat(parts, "/", std::string_view(shared_memory_part));
}

}  // namespace

// -S: what nobody has written takes no room.
Result<Done> save_shared_memory(const std::string& parts) {
  return run_tar({"tar", "-S", "--numeric-owner", "-C", "/dev/shm", "-cf", archive_in(parts), "."});
}

Result<Done> put_shared_memory_back(const std::string& parts) {
  return run_tar(
      {"tar", "-S", "--numeric-owner", "-p", "-C", "/dev/shm", "-xf", archive_in(parts)});
}

}  // namespace piracema::ckpt
