#include "run/barrier/batch_log.h"

#include <utility>

#include "run/packet/packet.h"
#include "wire/writer.h"

namespace piracema::runtime {

void BatchLog::add(std::uint32_t where, const Batch& batch) {
  const wire::Frame frame = to_frame(Packet(batch), 0, where, 0);
  wire::Writer writer(entries_);
  writer.number(where);
  writer.bytes(frame.head);
  writer.bytes(frame.body);
  count_ += 1;
}

void BatchLog::write_to(Buffer& out) const {
  wire::Writer writer(out);
  writer.number(count_);
  writer.raw(entries_);
}

Result<std::vector<BatchLog::Entry>> BatchLog::read(wire::Reader& reader) {
  std::vector<Entry> all;
  const auto count = reader.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
    wire::Frame frame;
    frame.from = reader.number<std::uint32_t>();
    frame.head = Buffer(reader.bytes());
    frame.body = Buffer(reader.bytes());
    if (!reader.ok()) break;
    const std::uint32_t where = frame.from;
    auto packet = to_packet(std::move(frame));
    if (!packet) return packet.error();
    all.push_back({where, std::move(std::get<Batch>(*packet))});
  }
  if (!reader.ok()) return reader.finish().error();
  return all;
}

}  // namespace piracema::runtime
