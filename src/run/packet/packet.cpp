#include "run/packet/packet.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "wire/fields.h"

namespace piracema::runtime {

namespace {

struct BatchHead {
  std::uint32_t count = 0, item_bytes = 0, origin = 0;
  std::uint64_t first_id = 0, sequence = 0, share = 0;
  std::vector<std::uint64_t> ids;
  std::vector<std::uint32_t> positions;
  auto fields() {
    return std::tie(count, item_bytes, origin, first_id, sequence, share, ids, positions);
  }
};
struct BarrierHead : Barrier {
  auto fields() { return std::tie(snapshot, complete, patience); }
};
struct EndHead : EndOfStream {
  auto fields() { return std::tie(); }
};
struct CreditHead : Credit {
  auto fields() { return std::tie(batches, ns_per_item, done); }
};
struct ReleaseHead : Release {
  auto fields() { return std::tie(sequence); }
};

struct ProbeHead : Probe {
  auto fields() { return std::tie(round, quiet); }
};

struct WatermarkHead {
  Time since_1970{};
  auto fields() { return std::tie(since_1970); }
};

Buffer head_of(Batch& batch) {
  return wire::encode(BatchHead{batch.count, batch.item_bytes, batch.order.origin, batch.first_id,
                                batch.order.sequence, batch.order.share, std::move(batch.ids),
                                std::move(batch.positions)});
}
Buffer head_of(const Barrier& barrier) { return wire::encode(BarrierHead{barrier}); }
Buffer head_of(const EndOfStream&) { return {}; }
Buffer head_of(const Credit& credit) { return wire::encode(CreditHead{credit}); }
Buffer head_of(const Release& release) { return wire::encode(ReleaseHead{release}); }
Buffer head_of(const Probe& probe) { return wire::encode(ProbeHead{probe}); }

Buffer head_of(const Watermark& mark) {
  return wire::encode(WatermarkHead{mark.come.time_since_epoch()});
}

Result<Packet> to_batch(wire::Frame frame) {
  auto head = wire::decode<BatchHead>(frame.head);
  if (!head) return head.error();
  const auto fits = [&](std::size_t size) { return size == 0 || size == head->count; };
  if (!fits(head->ids.size()) || !fits(head->positions.size())) {
    return Error{Errc::corrupt, concat("batch: ", head->count, " items, ", head->ids.size(),
                                       " identifiers, ", head->positions.size(), " positions")};
  }
  if (head->share == 0 || head->share > Order::whole) {
    return Error{Errc::corrupt, concat("batch: a share of ", head->share)};
  }
  Batch batch;
  batch.count = head->count;
  batch.item_bytes = head->item_bytes;
  batch.first_id = head->first_id;
  batch.order = {head->origin, head->sequence, head->share};
  batch.ids = std::move(head->ids);
  batch.positions = std::move(head->positions);
  batch.data = std::move(frame.body);
  return Packet(std::move(batch));
}

template <class Head, class P>
Result<Packet> to_small(const wire::Frame& frame) {
  auto head = wire::decode<Head>(frame.head);
  if (!head) return head.error();
  return Packet(P{*head});
}

Result<Packet> to_watermark(const wire::Frame& frame) {
  auto head = wire::decode<WatermarkHead>(frame.head);
  if (!head) return head.error();
  return Packet(Watermark{EventTime(head->since_1970)});
}

}  // namespace

Time Barrier::deadline(Time now) const {
  if (patience >= forever - now) return forever;
  return now + std::max(patience, Time{});
}

Packet copy_for(const Packet& packet, std::uint32_t index, std::uint32_t count) {
  Packet copy = packet;
  if (auto* batch = std::get_if<Batch>(&copy)) {
    const std::uint64_t whole = batch->order.share, part = whole / count;
    batch->order.share = index + 1 == count ? whole - part * index : part;
  }
  return copy;
}

wire::Frame to_frame(Packet packet, Epoch epoch, ReplicaId from, ReplicaId to) {
  wire::Frame frame;
  frame.kind = static_cast<std::uint8_t>(packet.index());
  frame.epoch = epoch;
  frame.from = from;
  frame.to = to;
  frame.head = std::visit([](auto& p) { return head_of(p); }, packet);
  if (auto* batch = std::get_if<Batch>(&packet)) frame.body = std::move(batch->data);
  return frame;
}

Result<Packet> to_packet(wire::Frame frame) {
  switch (frame.kind) {
    case 0:
      return to_batch(std::move(frame));
    case 1:
      return to_small<BarrierHead, Barrier>(frame);
    case 2:
      return to_small<EndHead, EndOfStream>(frame);
    case 3:
      return to_small<CreditHead, Credit>(frame);
    case 4:
      return to_small<ReleaseHead, Release>(frame);
    case 5:
      return to_small<ProbeHead, Probe>(frame);
    case 6:
      return to_watermark(frame);
    default:
      return Error{Errc::corrupt, concat("packet: kind ", frame.kind, " is unknown")};
  }
}

}  // namespace piracema::runtime
