#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "base/ids.h"
#include "wire/frame.h"

namespace piracema::net {

/// Of what processes say to each other through a transport; docs/formats/frame.md.
constexpr std::uint32_t transport_version = 3;
constexpr std::uint8_t handshake_kind = 255;

/// The first frame on a connection, in both directions: who speaks, and that it is of this job.
struct Greeting {
  std::uint32_t version = transport_version;
  /// 32 hexadecimal digits that only the processes of the job know.
  std::string token;
  Slot slot = 0;
  std::uint32_t incarnation = 0;
  /// Where frames are to go by MPI, if both are of the same world: its number, 0 for none, and the
  /// speaker's rank and tag there.
  std::uint64_t mpi_world = 0;
  std::uint32_t mpi_rank = 0, mpi_tag = 0;
  auto fields() {
    return std::tie(version, token, slot, incarnation, mpi_world, mpi_rank, mpi_tag);
  }
};

wire::Frame to_frame(const Greeting& greeting);

/// Errc::corrupt for a frame that is no greeting, Errc::refused for another version or job.
Result<Greeting> read_greeting(const wire::Frame& frame, std::string_view token);

bool is_token(std::string_view text);

/// Compares secrets in a time that tells nothing of where they differ.
bool same_secret(std::string_view a, std::string_view b);

}  // namespace piracema::net
