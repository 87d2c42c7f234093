#include "run/barrier/back_log.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "run/packet/packet.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace piracema::runtime {

void BackLog::cut(SnapshotId snapshot, Buffer state) {
  ENSURE(snapshot > last_cut_);
  last_cut_ = snapshot;
  Open open{.snapshot = snapshot, .state = std::move(state)};
  for (Input& input : inputs_) {
    // The barriers of a cycle come in order, so the one that waited is this one.
    open.arrived.push_back(input.ended || std::exchange(input.ahead, 0) != 0);
  }
  open_.push_back(std::move(open));
}

void BackLog::on_batch(std::size_t input, ReplicaId from, const Batch& batch) {
  if (batch.count == 0) return;
  for (Open& open : open_) {
    if (open.arrived[input]) continue;
    const wire::Frame frame = to_frame(Packet(batch), 0, from, 0);
    wire::Writer writer(open.log);
    writer.number(from);
    writer.bytes(frame.head);
    writer.bytes(frame.body);
    open.count += 1;
  }
}

void BackLog::on_barrier(std::size_t input, SnapshotId snapshot) {
  if (snapshot > last_cut_) {
    inputs_[input].ahead = snapshot;
    return;
  }
  for (Open& open : open_) {
    if (open.snapshot <= snapshot) open.arrived[input] = true;
  }
}

void BackLog::on_end(std::size_t input) {
  inputs_[input].ended = true;
  for (Open& open : open_) open.arrived[input] = true;
}

std::optional<BackLog::Part> BackLog::take() {
  if (open_.empty()) return std::nullopt;
  Open& first = open_.front();
  if (std::find(first.arrived.begin(), first.arrived.end(), false) != first.arrived.end()) {
    return std::nullopt;
  }
  Part part{first.snapshot, std::move(first.state)};
  wire::Writer writer(part.bytes);
  writer.number(first.count);
  writer.raw(first.log);
  open_.pop_front();
  return part;
}

Result<std::vector<BackLog::Logged>> read_log(Bytes log) {
  wire::Reader reader(log);
  std::vector<BackLog::Logged> all;
  const auto count = reader.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
    wire::Frame frame;
    frame.from = reader.number<std::uint32_t>();
    frame.head = Buffer(reader.bytes());
    frame.body = Buffer(reader.bytes());
    if (!reader.ok()) break;
    const ReplicaId from = frame.from;
    auto packet = to_packet(std::move(frame));
    if (!packet) return packet.error();
    all.push_back({from, std::move(std::get<Batch>(*packet))});
  }
  if (auto finished = reader.finish(); !finished) return finished.error();
  return all;
}

}  // namespace piracema::runtime
