#include "host/way_to_job.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "base/text.h"
#include "host/coordinator_file.h"
#include "net/session/handshake.h"
#include "store/disk/files.h"

namespace piracema::cluster {

namespace {
constexpr std::uint64_t way_bytes_max = 8'192;
}

std::string way_to_job_file() {
  const char* const folder = std::getenv("PIRACEMA_JOB_DIRECTORY");
  return folder == nullptr ? "" : concat(folder, "/.coordinators/way");
}

bool joins_job_of_node() { return std::getenv("PIRACEMA_JOIN") != nullptr; }

Result<Done> write_way_to_job(const std::string& path, const WayToJob& way) {
  const std::string folder = path.substr(0, path.rfind('/'));
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return Error{Errc::io, with_errno(folder)};
  }
  std::string text = way.token + "\n";
  for (const std::string& address : way.coordinators) text += address + "\n";
  const Bytes all = std::as_bytes(std::span(text));
  return store::replace_file(path, std::span(&all, 1));
}

std::optional<WayToJob> read_way_to_job(const std::string& path) {
  const auto bytes = store::read_file(path, way_bytes_max);
  if (!bytes) return std::nullopt;
  std::istringstream in(std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()));
  WayToJob way;
  if (!std::getline(in, way.token) || !net::is_token(way.token)) return std::nullopt;
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  way.coordinators = coordinator_addresses(lines);
  if (way.coordinators.empty()) return std::nullopt;
  return way;
}

}  // namespace piracema::cluster
