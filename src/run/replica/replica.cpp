#include "run/replica/replica.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/ensure.h"

namespace piracema::runtime {

namespace {

std::vector<std::uint32_t> most_on_the_way(const flow::ReplicaPlan& plan, const Beginning& limits) {
  std::vector<std::uint32_t> most;
  for (const flow::InputPlan& input : plan.inputs) {
    const auto limit = limits.on_the_way.find(input.from);
    most.push_back(limit == limits.on_the_way.end() ? CreditPace::batches_max : limit->second);
  }
  return most;
}

constexpr Time timer_rest_longest = std::chrono::seconds(1);

}  // namespace

void Counters::clear() {
  for (auto* counter : {&items_in, &items_out, &bytes_in, &bytes_out, &busy_ns, &blocked_ns}) {
    counter->store(0);
  }
  blocked_since.store(0);
  queued.store(0);
  read_ppm.store(0);
  calls.store(0);
}

void Counters::wait_for_room(bool waits, Time now) {
  constexpr auto relaxed = std::memory_order_relaxed;
  if (!waits) blocked_ns.store(blocked_by(now), relaxed);
  blocked_since.store(waits ? std::max(now, Time(1)).count() : 0, relaxed);
}

std::uint64_t Counters::blocked_by(Time now) const {
  constexpr auto relaxed = std::memory_order_relaxed;
  const Time since(blocked_since.load(relaxed));
  const std::uint64_t before = blocked_ns.load(relaxed);
  if (since == Time{} || now <= since) return before;
  return before + static_cast<std::uint64_t>((now - since).count());
}

Replica::Replica(ReplicaId self, const flow::ReplicaPlan& plan, const Graph& graph,
                 Beginning beginning, Port& port, Counters& counters,
                 std::atomic<std::uint64_t>* at_work)
    : self_(self),
      plan_(plan),
      graph_(graph),
      node_(graph.shape.nodes[plan.node]),
      make_(graph.code[plan.node]),
      beginning_(std::move(beginning)),
      port_(port),
      counters_(counters),
      own_at_work_(no_item),
      at_work_(at_work != nullptr ? *at_work : own_at_work_),
      inbox_(plan),
      outbox_(self, plan, graph, beginning_, port, &at_work_),
      credits_(most_on_the_way(plan, beginning_)),
      barriers_(plan),
      overtaking_(plan.inputs.size()),
      unpaid_(plan.inputs.size()),
      open_inputs_(plan.inputs.size()) {
  counters_.clear();
  at_work_.store(no_item, std::memory_order_relaxed);
  if (plan_.heads == 0) return;
  std::vector<bool> in_cycle;
  for (const flow::InputPlan& input : plan_.inputs) in_cycle.push_back(input.in_cycle);
  cycle_.emplace(std::move(in_cycle), plan_.is_head, plan_.heads);
}

Replica::~Replica() = default;

void Replica::fail(std::optional<std::uint64_t> item, std::string why) {
  const std::uint64_t at = at_work_.load(std::memory_order_relaxed);
  if (!item && at != no_item) item = at;
  failed_ = true;
  port_.failed(item, std::move(why));
}

void Replica::begin() {
  guarded("start", [&] {
    operator_ = make_();
    if (KeyedStates* const states = operator_->keyed_states(beginning_.place)) {
      states->own(plan_.groups, plan_.owned);
      keyed_.emplace(self_, plan_.groups, *states, beginning_.piece_bytes);
    }
    if (beginning_.state) {
      complete_ = beginning_.snapshot;
      if (auto restored = restore(*beginning_.state); !restored) {
        throw DecodeError("its part of the snapshot is not a state: " + restored.error().message);
      }
      if (auto loaded = load_units(); !loaded) throw DecodeError(loaded.error().message);
      if (keyed_) keyed_->restored(beginning_.snapshot);
    }
    beginning_.context.wake = port_.waker();
    beginning_.context.now = [this] { return port_.wall_time(); };
    operator_->open(beginning_.context);
    if (beginning_.state) {
      operator_->restored(beginning_.snapshot);
      last_committed_ = beginning_.snapshot;
    }
    beginning_.state.reset();
    has_timer_ = operator_->has_timer();
    if (has_timer_ && plan_.heads != 0) {
      throw std::logic_error("on_timer in a cycle: what it sends could come after the end of that");
    }
  });
}

void Replica::start() {
  if (ended_ && !failed_) {
    // What had ended in the snapshot has nothing to do but to say so again.
    outbox_.end();
    port_.ended();
    return;
  }
  for (std::size_t input = 0; input < plan_.inputs.size(); ++input) {
    port_.send(plan_.inputs[input].from, credits_.first(input));
  }
  // Those in the cycle that had not heard of it in the snapshot hear of it again.
  if (cycle_ended_) outbox_.end_cycle();
}

void Replica::receive(ReplicaId from, Packet packet) {
  if (const auto* credit = std::get_if<Credit>(&packet)) return outbox_.on_credit(from, *credit);
  if (const auto* release = std::get_if<Release>(&packet)) {
    return outbox_.on_release(from, release->sequence);
  }
  const auto input = plan_.input_from(from);
  ENSURE(input);
  if (plan_.inputs[*input].back) return receive_back(*input, std::move(packet));
  overtaking_.received(*input, from, packet);
  if (const auto* barrier = std::get_if<Barrier>(&packet)) {
    expect(barrier->snapshot, barrier->patience);
  }
  inbox_.put(*input, std::move(packet));
  counters_.queued.store(inbox_.size(), std::memory_order_relaxed);
}

Replica::Next Replica::step() {
  if (failed_) return Next::wait;
  outbox_.pump();
  if (serve_requests() || overtake()) return Next::again;
  save_more();
  const Next next = work();
  return can_save_more() ? Next::again : next;
}

Replica::Next Replica::work() {
  if (failed_) return Next::wait;
  const bool no_room = !ended_ && outbox_.must_wait();
  if (no_room != counters_.waits_for_room()) counters_.wait_for_room(no_room, port_.now());
  if (ended_ || no_room || is_held()) return Next::wait;
  called_timer_ = call_timer();
  if (called_timer_) return Next::again;
  if (is_source(node_.role)) return produce();
  if (inbox_.empty()) {
    outbox_.flush_if_asked();
    send_held_probe();
    return Next::wait;
  }
  port_.flush();
  Inbox::Incoming incoming = inbox_.take();
  counters_.queued.store(inbox_.size(), std::memory_order_relaxed);
  if (barriers_.is_blocked(incoming.input)) {
    inbox_.hold(std::move(incoming));
  } else {
    handle(std::move(incoming));
  }
  return Next::again;
}

// Between two batches, so that what it emits comes from none.
bool Replica::call_timer() {
  if (!has_timer_ || called_timer_) return false;
  const WallTime now = port_.wall_time();
  if (!guarded("next_timer", [&] { timer_ = operator_->next_timer(); })) return true;
  if (!timer_ || *timer_ > now) return false;
  outbox_.begin_finish();
  const bool called = guarded("on_timer", [&] {
    operator_->on_timer(now, outbox_);
    timer_ = operator_->next_timer();
  });
  if (!called) return true;
  at_work_.store(no_item, std::memory_order_relaxed);
  outbox_.flush();
  outbox_.pump();
  count_out();
  return true;
}

std::optional<Time> Replica::longest_wait() const {
  if (failed_) return std::nullopt;
  std::optional<Time> longest;
  if (timer_ && !ended_ && !is_held()) {
    // The clock may be set meanwhile.
    const Time left = std::chrono::duration_cast<Time>(*timer_ - port_.wall_time());
    longest = std::clamp(left, Time{}, timer_rest_longest);
  }
  if (const auto deadline = next_overtaking()) {
    const Time left = std::max(*deadline - port_.now(), Time{});
    longest = std::min(left, longest.value_or(left));
  }
  return longest;
}

void Replica::handle(Inbox::Incoming incoming) {
  if (auto* batch = std::get_if<Batch>(&incoming.packet)) {
    take(incoming.input, std::move(*batch));
  } else if (const auto* barrier = std::get_if<Barrier>(&incoming.packet)) {
    heard_complete(barrier->complete);
    const auto wanted = barriers_.on_barrier(incoming.input, barrier->snapshot);
    wanted ? snapshot(*wanted) : save_complete();
  } else if (std::holds_alternative<EndOfStream>(incoming.packet)) {
    on_end(incoming.input);
  } else if (const auto* probe = std::get_if<Probe>(&incoming.packet)) {
    send_round(cycle_->on_probe(incoming.input, *probe));
  }
}

void Replica::on_end(std::size_t input) {
  open_inputs_ -= 1;
  const auto wanted = barriers_.on_end(input);
  wanted ? snapshot(*wanted) : save_complete();
  if (failed_) return;
  if (open_inputs_ == 0) return finish();
  if (cycle_) send_round(cycle_->on_end(input));
}

void Replica::finish() {
  ENSURE(reorder_.empty());
  outbox_.begin_finish();
  if (!guarded("finish", [&] { operator_->finish(outbox_); })) return;
  at_work_.store(no_item, std::memory_order_relaxed);
  outbox_.end();
  count_out();
  ended_ = true;
  counters_.read_ppm.store(1'000'000, std::memory_order_relaxed);
  port_.ended();
}

}  // namespace piracema::runtime
