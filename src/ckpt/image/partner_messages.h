#pragma once

#include <cstdint>
#include <string>
#include <tuple>

/// What a node and the partner of its job say to each other over the remote shell's standard input
/// and output, as frames whose kind is one of these. Both are of one build.
namespace piracema::ckpt {

enum class ToPartner : std::uint8_t {
  image = 1,  ///< PartnerImage, first of all.
  piece,      ///< The next bytes of the image's parts, one part behind the other.
};

enum class FromPartner : std::uint8_t {
  want = 1,  ///< Go on with the pieces.
  have,      ///< It is there, whole and durable: from before, or all pieces have come.
  failed,    ///< A text: why it is not.
};

struct PartnerImage {
  std::uint64_t image = 0;
  std::string manifest;
  /// What is not newer than this need not be kept any more.
  std::uint64_t in_store = 0;
  auto fields() { return std::tie(image, manifest, in_store); }
};

/// The most of one piece.
constexpr std::size_t partner_piece_bytes = std::size_t{1} << 20;

}  // namespace piracema::ckpt
