#include "ckpt/capsule/criu.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/text.h"
#include "os/helper.h"

namespace piracema::ckpt {

namespace {

constexpr std::string_view how_to_get =
    "scripts/get-criu gets one from Debian's own suites; piracema ckpt doctor tells more";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string text_of(CriuVersion version) { return concat(version.major, ".", version.minor); }

Result<Criu> probe(const std::string& path) {
  const auto end = run_helper({path, "--version"});
  if (!end) return end.error();
  const auto version = parse_criu_version(end->output);
  if (end->status != 0 || !version) {
    return Error{Errc::config, concat("'", path, "' is no criu: ", last_line(end->output))};
  }
  return Criu{path, *version};
}

Error too_old(const Criu& criu) {
  return {Errc::config, concat("want criu ", text_of(criu_version_least), " or later, found ",
                               text_of(criu.version), " (", criu.path, "); ", how_to_get)};
}

}  // namespace

std::optional<CriuVersion> parse_criu_version(std::string_view text) {
  const std::size_t at = text.find("Version: ");
  CriuVersion version;
  if (at == text.npos || std::sscanf(std::string(text.substr(at)).c_str(), "Version: %d.%d",
                                     &version.major, &version.minor) != 2) {
    return std::nullopt;
  }
  return version;
}

std::string cached_criu_path() {
  const std::string cache = environment("XDG_CACHE_HOME"), home = environment("HOME");
  if (cache.empty() && home.empty()) return "/var/cache/piracema/criu/criu";
  return (cache.empty() ? home + "/.cache" : cache) + "/piracema/criu/criu";
}

Result<Criu> find_criu(const std::string& wanted) {
  for (const std::string& one : {wanted, environment("PIRACEMA_CRIU")}) {
    if (one.empty()) continue;
    auto found = probe(one);
    if (found && found->version < criu_version_least) return too_old(*found);
    return found;
  }
  std::optional<Error> why;
  for (const std::string& path :
       {std::string("criu"), std::string("/usr/sbin/criu"), cached_criu_path()}) {
    auto found = probe(path);
    if (found && found->version >= criu_version_least) return found;
    if (found && !why) why = too_old(*found);
  }
  if (why) return *why;
  return Error{Errc::config, concat("want criu ", text_of(criu_version_least),
                                    " or later, found none; ", how_to_get)};
}

}  // namespace piracema::ckpt
