#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "ckpt/network/overlay.h"

/// What a keeper and its agent on another host say to each other over the remote shell's standard
/// input and output, as frames whose kind is one of these. Both are of one build.
namespace piracema::ckpt {

enum class ToAgent : std::uint8_t {
  open = 1,  ///< HostOpen: make a capsule.
  link,      ///< HostLink, when all have said where they are.
  order,     ///< An Order of the capsule's, passed on.
  alive,     ///< Nothing but that the keeper is there.
};

enum class FromAgent : std::uint8_t {
  opened = 1,  ///< HostOpened, before the capsule reports.
  report,      ///< A Report of the capsule's, passed on.
  alive,       ///< HostAlive.
  failed,      ///< A text: why there is no capsule, or no more.
};

struct HostOpen {
  /// Of the job's hosts, from 0 on.
  std::uint64_t number = 0;
  /// All of them, by the names that they have in the job.
  std::vector<std::string> names;
  OverlayToken token{};
  /// The directory of the job.
  std::string directory;
  /// As for find_criu.
  std::string criu;
  auto fields() { return std::tie(number, names, token, directory, criu); }
};

struct HostOpened {
  /// Where its overlay receives.
  std::uint16_t port = 0;
  std::uint32_t cores = 0;
  auto fields() { return std::tie(port, cores); }
};

struct HostLink {
  /// The other hosts, as this one is to find them.
  struct Peer {
    std::uint64_t number = 0;
    std::string host;
    std::uint16_t port = 0;
    auto fields() { return std::tie(number, host, port); }
  };
  std::vector<Peer> peers;
  auto fields() { return std::tie(peers); }
};

struct HostAlive {
  /// Of the job's processes there (process_tree.h).
  std::uint64_t resident = 0, swapped = 0, processes = 0;
  auto fields() { return std::tie(resident, swapped, processes); }
};

}  // namespace piracema::ckpt
