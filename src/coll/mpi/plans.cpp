#include "coll/mpi/plans.h"

namespace piracema::coll::mpi {

namespace {
/// Most links are faster; rank 0 may also not have made the plan yet.
constexpr std::chrono::milliseconds asks_after{100};
}  // namespace

Plans::Plans(Exchange& exchange, ProbeThread* probes, std::uint64_t number,
             std::vector<Rank> world_ranks)
    : exchange_(exchange),
      probes_(probes),
      number_(number),
      world_ranks_(std::move(world_ranks)),
      mail_(exchange.size()) {
  if (probes_) probes_->attach(number_, *this);
}

Plans::~Plans() {
  if (probes_) probes_->detach(number_);
}

void Plans::send(std::uint32_t window, const Plan& plan) {
  const auto bytes = encode(plan);
  // Those of windows before may be on slow links still; that is nothing to wait for.
  all_sent();
  for (Rank to = 1; to < exchange_.size(); ++to) {
    exchange_.send_bytes(to, tag(window, Kind::plan), bytes, under_way_);
  }
  if (!probes_) return;
  {
    const std::lock_guard lock(mutex_);
    mail_.add(window, bytes);
    if (!some_go_around_) return;
  }
  probes_->wake();
}

void Plans::on_has(Rank rank, std::uint32_t window) {
  const std::lock_guard lock(mutex_);
  mail_.on_has(rank, window);
}

bool Plans::poll_straight(std::uint32_t window) {
  if (straight_) return true;
  straight_.emplace();
  if (exchange_.poll_bytes(0, tag(window, Kind::plan), *straight_)) return true;
  straight_.reset();
  return false;
}

bool Plans::drop_late() {
  Exchange::Arrived arrived;
  while (!late_.empty() && exchange_.poll_bytes(0, tag(late_.front(), Kind::plan), arrived)) {
    late_.pop_front();
  }
  return late_.empty();
}

std::optional<Plan> Plans::take(std::uint32_t window) {
  drop_late();
  const bool visible = poll_straight(window) && now() >= straight_->visible_at;
  std::optional<std::string> mailed;
  {
    const std::lock_guard lock(mutex_);
    if (visible) {
      mail_.forget_up_to(window);
    } else {
      mailed = mail_.take(window);
    }
  }
  if (!visible && !mailed) {
    ask_if_late(window);
    return std::nullopt;
  }
  waits_since_ = Time{};
  if (!straight_) late_.push_back(window);
  auto plan =
      decode_plan(visible ? std::span<const char>(straight_->bytes) : *mailed, exchange_.size());
  straight_.reset();
  if (!plan) throw MpiError{MPI_ERR_OTHER};
  return *std::move(plan);
}

void Plans::ask_if_late(std::uint32_t window) {
  const Time time = now();
  if (waits_since_ == Time{}) waits_since_ = time;
  if (!probes_ || time < waits_since_ + asks_after) return;
  {
    const std::lock_guard lock(mutex_);
    if (!mail_.ask(window)) return;
  }
  probes_->wake();
}

bool Plans::came(std::uint32_t window) { return poll_straight(window); }

bool Plans::all_came_up_to(std::uint32_t window) {
  const bool none_late = drop_late();
  return poll_straight(window) && none_late;
}

void Plans::on_packet(Rank from, std::span<const char> bytes) {
  const auto rank = rank_among(world_ranks_, from);
  if (!rank) return;
  const std::lock_guard lock(mutex_);
  mail_.on_packet(*rank, bytes);
}

std::vector<Packet> Plans::due(Time now, const LinkMap&, const Detours& detours) {
  const std::lock_guard lock(mutex_);
  const auto around = [&](Rank to) -> std::optional<Time> {
    const Rank there = world_ranks_[to];
    if (detours.first(there) == there) return std::nullopt;
    return to_time(2 * detours.latency(there));
  };
  some_go_around_ = std::any_of(world_ranks_.begin(), world_ranks_.end(),
                                [&](Rank rank) { return detours.first(rank) != rank; });
  std::vector<Packet> out;
  for (auto& [to, bytes] : mail_.due(now, around)) {
    out.push_back({world_ranks_[to], std::move(bytes)});
  }
  return out;
}

Time Plans::next() const {
  const std::lock_guard lock(mutex_);
  return mail_.next();
}

}  // namespace piracema::coll::mpi
