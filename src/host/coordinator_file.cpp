#include "host/coordinator_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <sstream>

#include "base/parse.h"
#include "base/text.h"
#include "net/session/handshake.h"
#include "net/socket/address.h"
#include "store/disk/files.h"

namespace piracema::cluster {

namespace {
constexpr std::uint64_t bytes_max = 8'192;
constexpr std::size_t addresses_max = 64;
constexpr std::string_view label = "job ", nobody = "over";

Result<Done> write(const std::string& path, std::string_view name,
                   const std::vector<std::string>& lines) {
  const std::string folder = path.substr(0, path.rfind('/'));
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return Error{Errc::io, with_errno(folder)};
  }
  std::string text = concat(label, name, "\n");
  for (const std::string& line : lines) text += line + "\n";
  const Bytes all = std::as_bytes(std::span(text));
  return store::replace_file(path, std::span(&all, 1));
}

// Its name first; nothing where there is no such file.
std::vector<std::string> lines_of(const std::string& path) {
  const auto bytes = store::read_file(path, bytes_max);
  if (!bytes) return {};
  std::istringstream in(std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}
}  // namespace

std::string coordinator_file(const std::string& snapshots) {
  return concat(snapshots, "/coordinator/address");
}

Result<Done> write_coordinator_file(const std::string& path, std::string_view token,
                                    const std::vector<std::string>& addresses) {
  return write(path, net::public_name(token), addresses);
}

Result<Done> close_coordinator_file(const std::string& path, int code) {
  return write(path, nobody, {concat(code)});
}

std::optional<int> code_in_coordinator_file(const std::string& path) {
  const std::vector<std::string> lines = lines_of(path);
  if (lines.size() < 2 || lines[0] != concat(label, nobody)) return std::nullopt;
  const auto number = parse_number<int>(lines[1]);
  return number && *number >= 0 && *number <= 255 ? number : std::nullopt;
}

std::vector<std::string> coordinator_addresses(const std::vector<std::string>& all) {
  std::vector<std::string> addresses;
  for (const std::string& one : all) {
    if (addresses.size() < addresses_max && net::Address::parse(one)) addresses.push_back(one);
  }
  return addresses;
}

std::vector<std::string> find_coordinators(const std::string& path, std::string_view token,
                                           const std::vector<std::string>& otherwise) {
  const std::vector<std::string> lines = lines_of(path);
  if (lines.empty() || !lines[0].starts_with(label)) return otherwise;
  if (lines[0] != concat(label, net::public_name(token))) return {};
  const auto addresses = coordinator_addresses({lines.begin() + 1, lines.end()});
  return addresses.empty() ? otherwise : addresses;
}

}  // namespace piracema::cluster
