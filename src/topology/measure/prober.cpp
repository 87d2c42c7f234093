#include "topology/measure/prober.h"

#include <algorithm>
#include <cstring>

namespace piracema::coll {

namespace {

using std::chrono::milliseconds;

constexpr std::uint32_t probe_magic = 0x32425250;  // "PRB2"
constexpr Time each_peer_every = milliseconds(500);
constexpr Time question_every_least = milliseconds(10);
/// The first rounds, so that a program does not have to wait for its first tree.
constexpr Time first_every = milliseconds(2);
constexpr std::uint64_t first_rounds = 3;
constexpr std::size_t open_max = 64;

struct Fixed {
  std::uint32_t magic = 0;
  std::uint32_t from = 0;
  std::uint64_t token = 0;
  std::int64_t asked = 0;
  std::uint32_t number = 0;
  std::uint16_t is_answer = 0;
  std::uint16_t rows = 0;
};
struct RowHead {
  std::uint32_t of = 0, version = 0;
  double place[5] = {};
};
static_assert(sizeof(Fixed) == 32 && sizeof(RowHead) == 48);

template <class T>
void put(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

Prober::Prober(Rank me, Rank size, std::uint64_t token, std::uint64_t seed)
    : me_(me),
      token_(token),
      map_(me, size, seed),
      turn_(me),
      open_(size),
      numbers_(size, 0),
      answered_(size) {}

std::vector<Packet> Prober::tick(Time now) {
  std::vector<Packet> out;
  if (map_.size() < 2 || now < next_) return out;
  turn_ = (turn_ + 1) % map_.size();
  if (turn_ == me_) turn_ = (turn_ + 1) % map_.size();
  auto& open = open_[turn_];
  if (!open.empty()) map_.on_silence(turn_, now - open.front().asked);
  // What has been open for so long is lost; the oldest tell that the link is silent.
  if (open.size() == open_max) open.erase(open.begin() + 1);
  open.push_back({++numbers_[turn_], now});
  out.push_back({turn_, encode(false, numbers_[turn_], now)});
  asked_ += 1;
  sent_ += 1;
  const bool first = asked_ < first_rounds * (map_.size() - 1);
  const Time usual = std::max(question_every_least, each_peer_every / (map_.size() - 1));
  next_ = now + (first ? first_every : usual);
  return out;
}

std::vector<Packet> Prober::on_packet(Time now, std::span<const char> bytes) {
  Fixed fixed;
  if (bytes.size() < sizeof fixed) return {};
  std::memcpy(&fixed, bytes.data(), sizeof fixed);
  if (fixed.magic != probe_magic || fixed.token != token_) return {};
  if (fixed.from >= map_.size() || fixed.from == me_) return {};
  bytes = bytes.subspan(sizeof fixed);
  const std::size_t floats = map_.size() * sizeof(float);
  const std::size_t row_bytes = sizeof(RowHead) + 2 * floats;
  if (bytes.size() != fixed.rows * row_bytes) return {};
  for (std::size_t i = 0; i < fixed.rows; ++i, bytes = bytes.subspan(row_bytes)) {
    RowHead head;
    std::memcpy(&head, bytes.data(), sizeof head);
    Row row{.of = head.of, .version = head.version, .latency = {}, .megabyte = {}, .place = {}};
    row.latency.resize(map_.size());
    row.megabyte.resize(map_.size());
    std::memcpy(row.latency.data(), bytes.data() + sizeof head, floats);
    std::memcpy(row.megabyte.data(), bytes.data() + sizeof head + floats, floats);
    row.place = {{head.place[0], head.place[1], head.place[2]}, head.place[3], head.place[4]};
    if (!map_.on_row(row)) return {};
  }
  if (fixed.is_answer == 0) {
    sent_ += 1;
    return {{fixed.from, encode(true, fixed.number, Time(fixed.asked))}};
  }
  auto& open = open_[fixed.from];
  const auto asked = std::find_if(open.begin(), open.end(),
                                  [&](const Question& q) { return q.number == fixed.number; });
  if (asked == open.end()) return {};
  map_.on_round_trip(fixed.from, now - asked->asked);
  answered_[fixed.from] = now;
  // Earlier ones were lost, or tell of a time that is over.
  open.erase(open.begin(), asked + 1);
  return {};
}

std::string Prober::encode(bool is_answer, std::uint32_t number, Time asked) {
  const std::size_t floats = map_.size() * sizeof(float);
  const std::size_t row_bytes = sizeof(RowHead) + 2 * floats;
  const std::size_t fit = (packet_bytes_max - sizeof(Fixed)) / row_bytes;
  const std::size_t rows = std::clamp<std::size_t>(fit, 1, map_.size());
  std::string out;
  put(out, Fixed{.magic = probe_magic,
                 .from = me_,
                 .token = token_,
                 .asked = asked.count(),
                 .number = number,
                 .is_answer = is_answer,
                 .rows = static_cast<std::uint16_t>(rows)});
  for (std::size_t i = 0; i < rows; ++i) {
    // The own row always, the others in turn.
    if (i > 0) {
      row_turn_ = (row_turn_ + 1) % map_.size();
      if (row_turn_ == me_) row_turn_ = (row_turn_ + 1) % map_.size();
    }
    const Row& row = map_.row(i == 0 ? me_ : row_turn_);
    const Coordinate& place = row.place;
    put(out, RowHead{row.of,
                     row.version,
                     {place.at[0], place.at[1], place.at[2], place.height, place.error}});
    out.append(reinterpret_cast<const char*>(row.latency.data()), floats);
    out.append(reinterpret_cast<const char*>(row.megabyte.data()), floats);
  }
  return out;
}

}  // namespace piracema::coll
