#pragma once

#include <piracema/error.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace piracema::smr {

/// Who leads a group, as its replicas say to anybody who asks.
struct Leader {
  std::uint32_t id = 0;
  /// As the members know it: "10.0.0.1:7300".
  std::string address;
  /// Larger is later; the leader of a later one has come in its place.
  std::uint32_t view = 0, regency = 0;
};

/// For who has no key of the group: a proxy, a health check, a program that is to be sent to the
/// machine where the leader is. A hint that nothing proves: it may be old, and who sits on the way
/// may say anything. Asks all `addresses` at once and takes the latest that a majority of them says
/// is there, or as many as answer in time.
///
/// Errc::config for an address that is none; Errc::timeout with one line about each address if none
/// answers; Errc::refused if they are of another group or version.
Result<Leader> find_leader(const std::string& group, const std::vector<std::string>& addresses,
                           std::chrono::milliseconds timeout = std::chrono::seconds(3));

}  // namespace piracema::smr
