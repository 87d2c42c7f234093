#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <vector>

#include "base/fd.h"

namespace piracema::ckpt {

/// Drawn for each time that capsules are opened: packets of others, and of an earlier time, are
/// not of ours.
using OverlayToken = std::array<std::byte, 16>;

/// Another capsule of the same job: its own address, and where its host receives for it.
struct OverlayPeer {
  /// IPv4, the highest byte is the first of its text.
  std::uint32_t address = 0, host = 0;
  std::uint16_t port = 0;
  auto fields() { return std::tie(address, host, port); }
};

/// The network between the capsules of a job: packets of the capsule's link c0 travel from host to
/// host in UDP, so that they have the same addresses wherever they are. It needs nothing of the
/// hosts' network but that they reach each other, and of the kernel its tun device.
///
/// Nothing is encrypted, as little as MPI does. Belongs to one thread; never waits.
class Overlay {
 public:
  /// Makes the link c0 in the network namespace of the caller, without address, switched off.
  /// `host` is a UDP socket of the host's namespace. Errc::config without /dev/net/tun.
  static Result<Overlay> open(Fd host, const OverlayToken& token);

  /// Readable when there is something for `leave` and `arrive`.
  int device() const { return device_.get(); }
  int host() const { return host_.get(); }

  void set_peers(const std::vector<OverlayPeer>& peers);

  /// From now on no packet leaves or arrives: up to `held_bytes_max` are kept each way, what comes
  /// above that is dropped, for TCP sends again. So it begins.
  void hold() { held_ = true; }
  /// What was kept goes its way.
  void pass();

  /// Moves packets, so many that others have their turn too.
  void leave();
  void arrive();

  static constexpr std::size_t held_bytes_max = std::size_t{8} << 20;

 private:
  Overlay(Fd device, Fd host, const OverlayToken& token);
  void send(Bytes datagram);
  void deliver(Bytes packet);
  struct Held {
    std::deque<Buffer> packets;
    std::size_t bytes = 0;
    void keep(Bytes packet);
  };

  Fd device_, host_;
  /// A datagram: the token, then the packet.
  Buffer room_;
  std::map<std::uint32_t, OverlayPeer> peers_;
  bool held_ = true;
  Held leaving_, arriving_;
};

/// A UDP socket that hosts reach at the port, on any address of this one. Errc::io.
Result<Fd> open_overlay_socket();
std::uint16_t port_of(const Fd& socket);

/// The largest packet of a capsule that needs no more than one packet of the network to `peers`.
unsigned overlay_mtu(const std::vector<OverlayPeer>& peers);

}  // namespace piracema::ckpt
