#include "run/relay/relayed_frame.h"

#include <tuple>
#include <utility>
#include <vector>

#include "base/text.h"
#include "wire/fields.h"

namespace piracema::runtime {

namespace {

struct WayFields {
  std::uint32_t slot = 0, below = 0;
  auto fields() { return std::tie(slot, below); }
};
struct RelayedHead {
  std::uint64_t number = 0;
  std::uint8_t kind = 0;
  std::vector<WayFields> way;
  Buffer head;
  auto fields() { return std::tie(number, kind, way, head); }
};

}  // namespace

wire::Frame to_frame(RelayedFrame relayed, std::span<const coll::Branch> way) {
  RelayedHead head{relayed.number, relayed.packet.kind, {}, std::move(relayed.packet.head)};
  for (const coll::Branch& branch : way) head.way.push_back({branch.rank, branch.below});
  wire::Frame frame = std::move(relayed.packet);
  frame.kind = relayed_kind;
  frame.head = wire::encode(head);
  return frame;
}

Result<RelayedFrame> to_relayed(wire::Frame frame, Slot me) {
  auto head = wire::decode<RelayedHead>(frame.head);
  if (!head) return head.error();
  RelayedFrame relayed;
  relayed.number = head->number;
  for (const WayFields& place : head->way) relayed.way.push_back({place.slot, place.below});
  if (auto right = coll::check(relayed.way, slots_max); !right) return right.error();
  if (relayed.way.front().rank != me) {
    return Error{Errc::corrupt, concat("want a way that begins at worker ", me, ", found ",
                                       relayed.way.front().rank)};
  }
  relayed.packet = std::move(frame);
  relayed.packet.kind = head->kind;
  relayed.packet.head = std::move(head->head);
  return relayed;
}

}  // namespace piracema::runtime
