// Feeds mutated streams of frames to all that reads what a peer sends: the reader of frames, in
// pieces of any size, and then the messages that it cuts out.
//
//     fuzz_frames [SECONDS]       a few thousand streams, or as many as fit into the time
//     PIRACEMA_SEED=4711 fuzz_frames      one stream
//
// What must hold: nothing crashes (the sanitizers look on in the preset dev), what comes before the
// first byte that differs is read as it was sent, and a reader takes no more memory than it is fed,
// twice, and 16 MiB.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/text.h"
#include "control/messages/control.h"
#include "fuzzing.h"
#include "host/agent_messages.h"
#include "host/onlooker_messages.h"
#include "net/session/handshake.h"
#include "net/socket/frame_reader.h"
#include "run/packet/packet.h"

using namespace piracema;

namespace {

constexpr std::uint64_t streams_in_a_test = 20'000;
const std::string token(32, 'a');

const net::Nonce nonce{};

/// All three frames of two who know each other then.
std::vector<wire::Frame> handshake() {
  net::Handshake caller(token, net::Purpose::frames, nonce);
  net::Handshake called(token, net::Purpose::frames, nonce);
  const wire::Frame call = caller.call(net::to_bytes({.slot = 3}));
  static_cast<void>(called.take_call(call).ok());
  const wire::Frame answer = called.answer(net::to_bytes({.slot = 2}));
  static_cast<void>(caller.take_answer(answer).ok());
  return {call, answer, caller.proof()};
}

/// What peers say to each other, one of each kind at least.
std::vector<wire::Frame> corpus() {
  using namespace runtime;
  const GraphShape shape{{{.name = "a", .role = Role::source}, {.name = "b", .role = Role::sink}},
                         {{.from = 0, .to = 1}}};
  std::vector<wire::Frame> all = handshake();
  for (const FromWorker& message : std::vector<FromWorker>{
           Hello{.address = "127.0.0.1:1", .graph = encode_shape(shape), .costs = {1, 0, 2}},
           Ready{1}, Saved{.epoch = 1, .snapshot = 2, .bytes = 300}, SaveFailed{1, 2, 3, "full"},
           Ended{1, 2}, OperatorFailed{1, 2, 77, "why"}, Committed{1, 2, 3}, FirstOutput{1, 2},
           Heartbeat{.epoch = 1, .progress = {{.replica = 1, .items_in = 5}}}}) {
    all.push_back(to_frame(message));
  }
  for (const ToWorker& message : std::vector<ToWorker>{
           Deploy{.epoch = 1, .placement = {0, 1}, .peers = {{0, 0, "127.0.0.1:1"}}},
           Trigger{1, 2, {0}}, Commit{1, 2, {1}}, Shutdown{1, "why"}}) {
    all.push_back(to_frame(message));
  }
  for (const cluster::FromAgent& message : std::vector<cluster::FromAgent>{
           cluster::AgentHello{1, 2}, cluster::AgentReady{"not"}, cluster::NotStarted{1, 0, "why"},
           cluster::Ended{.slot = 1, .status = 3, .how = "how", .at_work = {{1, 77}}},
           cluster::Output{"text"}, cluster::AgentPulse{{{1, 0, true, false}}},
           cluster::Leaving{}}) {
    all.push_back(to_frame(message));
  }
  for (const cluster::ToAgent& message : std::vector<cluster::ToAgent>{
           cluster::Setup{.command = {"app", "in"}, .environment = {"A=b"}},
           cluster::StartProcess{1, 0, {"A=b"}}, cluster::EndProcess{1, 0}, cluster::Pulse{},
           cluster::Leave{}}) {
    all.push_back(to_frame(message));
  }
  all.push_back(to_frame(cluster::FromOnlooker(cluster::HandedOnSignal{15, 1})));
  all.push_back(to_frame(cluster::ToOnlooker(cluster::LeaderNews{1'000, {"127.0.0.1:1"}})));
  all.push_back(to_frame(cluster::ToOnlooker(cluster::JobOver{75})));
  Batch batch;
  batch.count = 2;
  batch.item_bytes = 8;
  batch.ids = {1, 2};
  batch.data = Buffer(as_bytes(std::string(16, 'x')));
  std::vector<Packet> packets;
  packets.emplace_back(std::move(batch));
  packets.emplace_back(Barrier{});
  packets.emplace_back(EndOfStream{});
  packets.emplace_back(Credit{4, 100, 2});
  packets.emplace_back(Release{});
  for (Packet& packet : packets) all.push_back(to_frame(std::move(packet), 1, 0, 1));
  return all;
}

std::string bytes_of(const wire::Frame& frame) {
  std::string bytes(wire::frame_header_bytes, '\0');
  wire::write_header(frame, reinterpret_cast<std::byte*>(bytes.data()));
  bytes += as_text(frame.head);
  bytes += as_text(frame.body);
  return bytes;
}

// A header whose checksum is right for what it says, as a peer gone mad would send it.
void lie(wire::Frame& frame, std::string& bytes, Random& random) {
  const std::uint64_t lengths[] = {0, 1, frame.head.size() + 1};
  frame.kind = static_cast<std::uint8_t>(random.below(12));
  frame.epoch = static_cast<std::uint32_t>(random.next());
  if (random.chance(0.5)) {
    const std::size_t old = frame.head.size();
    frame.head.resize(lengths[random.below(3)]);
    if (frame.head.size() > old) frame.head.data()[old] = std::byte{0};
    for (std::size_t i = 0; i < frame.head.size(); ++i) {
      if (random.chance(0.2)) frame.head.data()[i] = static_cast<std::byte>(random.next());
    }
  }
  bytes = bytes_of(frame);
}

// All that might be done with a frame; what is refused is an Error, and that is all.
void read_as_everything(const wire::Frame& frame) {
  net::Handshake side(token, net::Purpose::frames, nonce);
  if (const auto about = side.take_call(frame); about.ok()) {
    static_cast<void>(net::read_greeting(*about).ok());
  }
  static_cast<void>(side.take_answer(frame).ok());
  static_cast<void>(side.take_proof(frame).ok());
  static_cast<void>(cluster::from_agent(frame).ok());
  static_cast<void>(cluster::to_agent(frame).ok());
  static_cast<void>(cluster::from_onlooker(frame).ok());
  static_cast<void>(cluster::to_onlooker(frame).ok());
  if (auto message = runtime::from_worker(frame); message.ok()) {
    if (const auto* hello = std::get_if<runtime::Hello>(&*message)) {
      static_cast<void>(runtime::decode_shape(hello->graph).ok());
    }
  }
  static_cast<void>(runtime::to_worker(frame).ok());
  static_cast<void>(runtime::to_packet(frame).ok());
  static_cast<void>(runtime::decode_shape(std::string(as_text(frame.head))).ok());
  static_cast<void>(runtime::decode_cut(std::string(as_text(frame.head))).ok());
}

bool same(const wire::Frame& a, const wire::Frame& b) {
  return a.kind == b.kind && a.epoch == b.epoch && a.from == b.from && a.to == b.to &&
         as_text(a.head) == as_text(b.head) && as_text(a.body) == as_text(b.body);
}

/// Why the stream of this seed was read wrongly; empty if it was not.
std::string run_one(std::uint64_t seed, const std::vector<wire::Frame>& frames) {
  Random random(seed);
  std::vector<wire::Frame> sent;
  std::vector<std::size_t> ends;
  std::string stream;
  for (std::uint64_t i = 1 + random.below(6); i > 0; --i) {
    sent.push_back(frames[random.below(frames.size())]);
    std::string bytes = bytes_of(sent.back());
    if (random.chance(0.2)) lie(sent.back(), bytes, random);
    stream += bytes;
    ends.push_back(stream.size());
  }
  const std::string before = stream;
  fuzzing::mutate(stream, random.below(5), random);
  const auto differs = std::mismatch(before.begin(), before.end(), stream.begin(), stream.end());
  const auto intact = static_cast<std::size_t>(differs.first - before.begin());

  net::FrameReader reader;
  std::size_t read = 0;
  for (std::size_t at = 0; at < stream.size();) {
    const auto room = reader.room();
    std::size_t count = std::min<std::size_t>(1 + random.below(200), stream.size() - at);
    count = std::min(count, room[0].iov_len + room[1].iov_len);
    if (room[0].iov_len + room[1].iov_len > 2 * stream.size() + (std::size_t{17} << 20)) {
      return "the reader takes more memory than it is fed";
    }
    const std::size_t first = std::min(count, room[0].iov_len);
    if (first != 0) std::memcpy(room[0].iov_base, stream.data() + at, first);
    if (count != first) std::memcpy(room[1].iov_base, stream.data() + at + first, count - first);
    reader.filled(count);
    at += count;
    while (true) {
      auto frame = reader.next();
      if (!frame) {
        if (read < ends.size() && ends[read] <= intact) return "a frame was refused that was right";
        return {};
      }
      if (!*frame) break;
      if (read < ends.size() && ends[read] <= intact && !same(**frame, sent[read])) {
        return "a frame was not read as it was sent";
      }
      read += 1;
      read_as_everything(**frame);
    }
  }
  const auto whole = static_cast<std::size_t>(
      std::count_if(ends.begin(), ends.end(), [&](std::size_t end) { return end <= intact; }));
  return read < whole ? "a frame that had come as a whole was not read" : "";
}

}  // namespace

int main(int argc, char** argv) {
  const auto frames = corpus();
  return fuzzing::run(argc, argv, streams_in_a_test,
                      [&](std::uint64_t seed) { return run_one(seed, frames); });
}
