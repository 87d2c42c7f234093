#include "topology/measure/post.h"

#include <cstring>

namespace piracema::coll {

namespace {

constexpr std::uint32_t post_magic = 0x31545350;  // "PST1"

struct PostHead {
  std::uint32_t magic = 0;
  Rank from = 0;
  std::uint64_t token = 0;
  std::uint64_t guest = 0;
  Rank to = 0;
  std::uint16_t relays = 0, unused = 0;
};
static_assert(sizeof(PostHead) == 32);

}  // namespace

std::string Post::wrap(Rank to, std::uint64_t guest, std::string_view bytes) const {
  const PostHead head{.magic = post_magic, .from = me_, .token = token_, .guest = guest, .to = to};
  std::string out(reinterpret_cast<const char*>(&head), sizeof head);
  return out.append(bytes);
}

std::optional<Post::Opened> Post::open(std::span<const char> packet) const {
  PostHead head;
  if (packet.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, packet.data(), sizeof head);
  if (head.magic != post_magic || head.token != token_) return std::nullopt;
  if (head.from >= size_ || head.to >= size_) return std::nullopt;
  return Opened{head.from, head.to, head.guest, packet.subspan(sizeof head)};
}

std::optional<std::string> Post::pass_on(std::span<const char> packet) const {
  PostHead head;
  std::memcpy(&head, packet.data(), sizeof head);
  if (head.relays >= relays_max) return std::nullopt;
  head.relays += 1;
  std::string out(packet.begin(), packet.end());
  std::memcpy(out.data(), &head, sizeof head);
  return out;
}

}  // namespace piracema::coll
