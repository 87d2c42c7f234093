#include "store/hdfs/hdfs_address.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "base/parse.h"
#include "base/text.h"
#include "store/http/url_text.h"

namespace piracema::store {

namespace {

constexpr std::size_t path_bytes_max = 900, host_bytes_max = 253, user_bytes_max = 64;

bool has_only(std::string_view text, std::string_view others) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return is_letter || (c >= '0' && c <= '9') || others.find(c) != others.npos;
  });
}

}  // namespace

Result<HdfsAddress> HdfsAddress::parse(const std::string& text) {
  const auto wrong = [&](std::string_view want) {
    return Error{Errc::config,
                 concat("want webhdfs://HOST:PORT/PATH, ", want, ", found \"", text, "\"")};
  };
  HdfsAddress address;
  std::string_view rest = text;
  const auto skip = [&rest](std::string_view scheme) {
    if (!rest.starts_with(scheme)) return false;
    rest.remove_prefix(scheme.size());
    return true;
  };
  address.tls = skip("swebhdfs://");
  if (!address.tls && !skip("webhdfs://")) return wrong("which begins with webhdfs://");
  const std::string_view server = rest.substr(0, rest.find('/'));
  const std::size_t colon = std::min(server.find(':'), server.size());
  address.host = server.substr(0, colon);
  if (address.host.empty() || address.host.size() > host_bytes_max ||
      !has_only(address.host, ".-")) {
    return wrong("with the name or IPv4 address of the name node");
  }
  address.port = address.tls ? 9871 : 9870;
  if (colon != server.size()) {
    const auto port = parse_number<std::uint16_t>(server.substr(colon + 1));
    if (!port || *port == 0) return wrong("with the port of the name node's web server");
    address.port = *port;
  }
  rest.remove_prefix(server.size());
  if (rest.starts_with('/')) rest.remove_prefix(1);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  address.path = rest;
  if (rest.size() > path_bytes_max || !is_plain_path(rest)) {
    return wrong("with a path of words of letters, digits and \"-_.~\" with slashes between");
  }
  return address;
}

std::string HdfsAddress::root() const {
  return concat(tls ? "swebhdfs://" : "webhdfs://", host, ":", port, "/");
}

std::string HdfsAddress::endpoint() const {
  return concat(tls ? "https://" : "http://", host, ":", port);
}

Result<std::string> hdfs_user() {
  std::string user;
  if (const char* told = std::getenv("HADOOP_USER_NAME"); told != nullptr) user = told;
  if (user.empty()) {
    std::array<char, 4'096> room{};
    passwd entry{};
    passwd* found = nullptr;
    const int failed = ::getpwuid_r(::geteuid(), &entry, room.data(), room.size(), &found);
    if (failed == 0 && found != nullptr) user = found->pw_name;
  }
  if (!user.empty() && user.size() <= user_bytes_max && has_only(user, "-_.@")) return user;
  return Error{Errc::config,
               concat("HADOOP_USER_NAME: want the name of a user, found \"", user, "\"")};
}

}  // namespace piracema::store
