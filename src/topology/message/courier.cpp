#include "topology/message/courier.h"

#include <algorithm>
#include <cstring>

namespace piracema::coll {

namespace {

/// In front of a letter; `number` is `none` where there is no letter.
struct LetterHead {
  std::uint64_t number = 0;
  /// All letters below have come.
  std::uint64_t has_up_to = 0;
};
constexpr std::uint64_t none = ~std::uint64_t{0};
/// What comes too early by more is nothing that a neighbour would send.
constexpr std::uint64_t early_max = 65'536;

}  // namespace

void Courier::send(Rank to, std::string letter) {
  letters_ += 1;
  peers_[to].open.push_back({order_.number_for(to), std::move(letter), Time{}, Time{}});
}

std::vector<std::string> Courier::on_packet(Rank from, std::span<const char> bytes) {
  LetterHead head;
  if (bytes.size() < sizeof head) return {};
  std::memcpy(&head, bytes.data(), sizeof head);
  bytes = bytes.subspan(sizeof head);
  Peer& peer = peers_[from];
  while (!peer.open.empty() && peer.open.front().number < head.has_up_to) peer.open.pop_front();
  if (head.number == none) return {};
  if (head.number >= order_.next_from(from) + early_max) return {};
  // Also one that came before: its answer may have been lost.
  peer.owes_answer = true;
  return order_.on(from, head.number, std::string(bytes.begin(), bytes.end()));
}

std::vector<Courier::Packet> Courier::due(Time now, const std::function<Time(Rank)>& round_trip) {
  std::vector<Packet> out;
  for (auto& [to, peer] : peers_) {
    for (Open& open : peer.open) {
      if (open.due > now) continue;
      const bool first = open.patience == Time{};
      if (!first) again_ += 1;
      open.patience = first ? std::max(patience_least, 2 * round_trip(to)) : 2 * open.patience;
      open.patience = std::min(open.patience, patience_max);
      open.due = now + open.patience;
      out.push_back({to, packet(to, &open)});
      peer.owes_answer = false;
    }
    if (peer.owes_answer) out.push_back({to, packet(to, nullptr)});
    peer.owes_answer = false;
  }
  return out;
}

Time Courier::next() const {
  Time next = Time::max();
  for (const auto& [to, peer] : peers_) {
    if (peer.owes_answer) return Time{};
    for (const Open& open : peer.open) next = std::min(next, open.due);
  }
  return next;
}

std::string Courier::packet(Rank to, const Open* open) {
  const LetterHead head{open ? open->number : none, order_.next_from(to)};
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  if (open) bytes += open->letter;
  return bytes;
}

}  // namespace piracema::coll
