#include "host/coordinator_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <sstream>

#include "base/text.h"
#include "net/socket/address.h"
#include "store/disk/files.h"

namespace piracema::cluster {

namespace {
constexpr std::uint64_t bytes_max = 8'192;
constexpr std::size_t addresses_max = 64;
}  // namespace

std::string coordinator_file(const std::string& snapshots) {
  return concat(snapshots, "/coordinator/address");
}

Result<Done> write_coordinator_file(const std::string& path,
                                    const std::vector<std::string>& addresses) {
  const std::string folder = path.substr(0, path.rfind('/'));
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return Error{Errc::io, with_errno(folder)};
  }
  std::string text;
  for (const std::string& address : addresses) text += address + "\n";
  const Bytes bytes = std::as_bytes(std::span(text));
  return store::replace_file(path, std::span(&bytes, 1));
}

std::vector<std::string> read_coordinator_file(const std::string& path) {
  std::vector<std::string> addresses;
  const auto bytes = store::read_file(path, bytes_max);
  if (!bytes) return addresses;
  std::istringstream in(std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()));
  for (std::string line; addresses.size() < addresses_max && std::getline(in, line);) {
    if (net::Address::parse(line)) addresses.push_back(line);
  }
  return addresses;
}

}  // namespace piracema::cluster
