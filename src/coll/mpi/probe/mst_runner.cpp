#include "coll/mpi/probe/mst_runner.h"

#include <algorithm>

namespace piracema::coll::mpi {

namespace {

/// The first tree is made when the own links were measured, or after so long.
constexpr std::chrono::seconds measuring_takes_most{5};
constexpr std::chrono::milliseconds look_again_after{20};
constexpr std::size_t times_kept = 1'000;
/// Links that change together are noticed one after the other; a round takes far longer than this,
/// and what is noticed while it lasts has to wait for the next one.
constexpr std::chrono::milliseconds changes_come_within{1'500};

}  // namespace

MstRunner::MstRunner(ProbeThread& probes, std::uint64_t number, Rank me,
                     std::vector<Rank> world_ranks, double threshold, unsigned adapt_every)
    : probes_(probes),
      number_(number),
      me_(me),
      world_ranks_(std::move(world_ranks)),
      adapt_every_(adapt_every),
      adapter_(me, threshold) {
  probes_.attach(number_, *this);
}

MstRunner::~MstRunner() { probes_.detach(number_); }

void MstRunner::on_broadcast() {
  {
    const std::lock_guard lock(mutex_);
    broadcasts_ += 1;
    if (wanted_at_ != Time{}) return;
    wanted_at_ = now();
    adapter_.want();
  }
  probes_.wake();
}

std::optional<std::uint32_t> MstRunner::round() const {
  const std::lock_guard lock(mutex_);
  return adapter_.round();
}

std::optional<std::vector<Rank>> MstRunner::neighbours(std::uint32_t round) {
  const std::lock_guard lock(mutex_);
  if (!adapter_.knows(round)) return std::nullopt;
  adapter_.forget_before(round);
  return adapter_.neighbours(round);
}

std::optional<MstRunner::Part> MstRunner::part(std::uint32_t round) const {
  const std::lock_guard lock(mutex_);
  if (adapter_.round() != round) return std::nullopt;
  return Part{adapter_.neighbours(round), adapter_.costs()};
}

std::vector<MstRunner::RoundTime> MstRunner::times() const {
  const std::lock_guard lock(mutex_);
  return {times_.begin(), times_.end()};
}

std::uint64_t MstRunner::letters() const {
  const std::lock_guard lock(mutex_);
  return courier_.letters() + courier_.again();
}

void MstRunner::on_packet(Rank from, std::span<const char> bytes) {
  const auto neighbour = rank_among(world_ranks_, from);
  if (!neighbour) return;
  const std::lock_guard lock(mutex_);
  for (const std::string& bytes_of_letter : courier_.on_packet(*neighbour, bytes)) {
    if (const auto letter = mst::decode_letter(bytes_of_letter)) {
      send(adapter_.on(*neighbour, *letter));
      note_round();
    }
  }
}

std::vector<Packet> MstRunner::due(Time now, const LinkMap& map, const Detours& detours) {
  const std::lock_guard lock(mutex_);
  want_if_changed(now, map);
  if (adapter_.may_begin() && has_measured(now, map)) {
    broadcasts_ = 0;
    began_ = now;
    send(adapter_.begin(costs(map)));
    note_round();
  }
  const auto round_trip = [&](Rank to) { return to_time(2 * detours.latency(world_ranks_[to])); };
  std::vector<Packet> out;
  for (auto& [to, bytes] : courier_.due(now, round_trip)) {
    out.push_back({world_ranks_[to], std::move(bytes)});
  }
  return out;
}

Time MstRunner::next() const {
  const std::lock_guard lock(mutex_);
  if (!adapter_.may_begin()) return courier_.next();
  return std::min(courier_.next(), now() + look_again_after);
}

std::vector<std::pair<Rank, double>> MstRunner::costs(const LinkMap& map) const {
  std::vector<std::pair<Rank, double>> costs;
  std::optional<LinkTable> guessed;
  const Rank here = world_ranks_[me_];
  for (Rank to = 0; to < world_ranks_.size(); ++to) {
    if (to == me_) continue;
    double cost = map.known_latency(here, world_ranks_[to]);
    if (cost < 0) {
      if (!guessed) guessed = map.table();
      cost = guessed->at(here, world_ranks_[to]).latency;
    }
    costs.emplace_back(to, cost);
  }
  return costs;
}

// The paper looks before every broadcast, or every few (adap II), and runs a round each time. Here
// links say themselves when they have changed, and a round begins if so many broadcasts have gone
// since the last one, or none at all.
void MstRunner::want_if_changed(Time now, const LinkMap& map) {
  if (!adapter_.round() || !adapter_.is_between_rounds()) return;
  if (broadcasts_ > 0 && broadcasts_ < adapt_every_) return;
  if (map.version() != looked_at_version_) {
    looked_at_version_ = map.version();
    if (!adapter_.is_of_use(costs(map))) {
      of_use_since_ = Time{};
    } else if (of_use_since_ == Time{}) {
      of_use_since_ = now;
    }
  }
  if (of_use_since_ == Time{} || now - of_use_since_ < changes_come_within) return;
  of_use_since_ = Time{};
  adapter_.want();
}

bool MstRunner::has_measured(Time now, const LinkMap& map) {
  if (adapter_.round()) return true;
  if (wanted_at_ == Time{}) wanted_at_ = now;
  if (now - wanted_at_ > measuring_takes_most) return true;
  const auto& own = map.row(world_ranks_[me_]).latency;
  return std::all_of(world_ranks_.begin(), world_ranks_.end(),
                     [&](Rank rank) { return rank == world_ranks_[me_] || own[rank] >= 0; });
}

void MstRunner::note_round() {
  const auto round = adapter_.round();
  if (!round || (!times_.empty() && times_.back().round == *round)) return;
  times_.push_back({*round, began_, now()});
  if (times_.size() > times_kept) times_.pop_front();
}

void MstRunner::send(const mst::Adapter::Letters& letters) {
  for (const auto& [to, letter] : letters) courier_.send(to, mst::encode(letter));
}

}  // namespace piracema::coll::mpi
