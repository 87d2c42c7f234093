#pragma once

#include <piracema/error.h>

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Finds the program that makes and revives process images.
namespace piracema::ckpt {

struct CriuVersion {
  int major = 0, minor = 0;
  auto operator<=>(const CriuVersion&) const = default;
};

/// Since Linux 6.13 older ones cannot read a process's vDSO, and 4.1 stumbles over its sockets.
constexpr CriuVersion criu_version_least{4, 2};

struct Criu {
  std::string path;
  CriuVersion version;
};

/// From what `criu --version` prints; nullopt for anything else.
std::optional<CriuVersion> parse_criu_version(std::string_view text);

/// Where scripts/get-criu puts one: "$XDG_CACHE_HOME/piracema/criu/criu", or in ~/.cache.
std::string cached_criu_path();

/// The first that is new enough of: `wanted` (if not empty; then no other), the environment's
/// PIRACEMA_CRIU (likewise), PATH, /usr/sbin, the cache. Errc::config with what was found instead
/// and how to get one.
Result<Criu> find_criu(const std::string& wanted);

}  // namespace piracema::ckpt
