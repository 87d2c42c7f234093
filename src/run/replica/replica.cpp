#include "run/replica/replica.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "base/text.h"

namespace piracema::runtime {

namespace {

std::vector<std::uint32_t> most_on_the_way(const flow::ReplicaPlan& plan,
                                           const ReplicaInit& limits) {
  std::vector<std::uint32_t> most;
  for (const flow::InputPlan& input : plan.inputs) {
    const auto limit = limits.on_the_way.find(input.from);
    most.push_back(limit == limits.on_the_way.end() ? CreditPace::batches_max : limit->second);
  }
  return most;
}

std::uint32_t ppm(double read) {
  if (read < 0) return 1'000'001;  // It does not know.
  return static_cast<std::uint32_t>(std::lround(std::min(read, 1.0) * 1e6));
}

}  // namespace

Replica::Replica(ReplicaId self, const flow::ReplicaPlan& plan, const Graph& graph,
                 ReplicaInit init, Port& port, Counters& counters,
                 std::atomic<std::uint64_t>* at_work)
    : plan_(plan),
      node_(graph.shape.nodes[plan.node]),
      make_(graph.code[plan.node]),
      init_(std::move(init)),
      port_(port),
      counters_(counters),
      guard_(port, counters, at_work),
      inbox_(plan),
      outbox_(self, plan, graph, init_, port, guard_.at_work()),
      credits_(most_on_the_way(plan, init_)),
      parts_(self, plan_, graph, port, guard_),
      snapshots_({plan_, graph, port, counters, guard_, inbox_, outbox_, reorder_, parts_}),
      cycle_(plan_, outbox_),
      timer_(port, counters, guard_, outbox_),
      clock_(plan_, port, counters, guard_, outbox_),
      open_inputs_(plan.inputs.size()) {
  counters_.clear();
}

Replica::~Replica() = default;

// ---- how it begins --------------------------------------------------------------------------

void Replica::begin() {
  guard_.call("start", [&] {
    operator_ = make_();
    snapshots_.begin(*operator_);
    if (KeyedStates* const states = operator_->keyed_states(init_.place)) {
      parts_.begin_keys(*states, init_);
    }
    if (init_.state) {
      if (auto restored = restore(*init_.state); !restored) {
        throw DecodeError("its part of the snapshot is not a state: " + restored.error().message);
      }
      if (auto loaded = parts_.load_keys(init_, *operator_); !loaded) {
        throw DecodeError(loaded.error().message);
      }
    }
    init_.context.wake = port_.waker();
    init_.context.now = [this] { return port_.wall_time(); };
    operator_->open(init_.context);
    if (init_.state) {
      operator_->restored(init_.snapshot);
      snapshots_.restored(init_.snapshot);
    }
    init_.state.reset();
    timer_.begin(*operator_);
    clock_.begin(*operator_);
    if (timer_.has_timer() && plan_.heads != 0) {
      throw std::logic_error("on_timer in a cycle: what it sends could come after the end of that");
    }
  });
}

Result<Done> Replica::restore(Bytes bytes) {
  parts_.restored_plain(bytes.size());
  const auto part = state::read_plain_part(bytes);
  if (!part) return part.error();
  auto batches = plan_.is_head ? cycle_.restore_log(part->under_way, inbox_)
                               : snapshots_.restore_overtaken(part->under_way, credits_);
  if (!batches) return batches;
  ended_ = part->stage == state::Stage::ended;
  cycle_.restore_ended(part->stage == state::Stage::cycle_ended);
  operator_->load(part->state);
  return Done{};
}

state::Stage Replica::stage() const {
  if (ended_) return state::Stage::ended;
  return cycle_.has_ended() ? state::Stage::cycle_ended : state::Stage::running;
}

void Replica::start() {
  if (ended_ && !guard_.has_failed()) {
    // What had ended in the snapshot has nothing to do but to say so again.
    outbox_.end();
    port_.ended();
    return;
  }
  for (std::size_t input = 0; input < plan_.inputs.size(); ++input) {
    port_.send(plan_.inputs[input].from, credits_.first(input));
  }
  // Those in the cycle that had not heard of it in the snapshot hear of it again.
  if (cycle_.has_ended()) outbox_.end_cycle();
}

// ---- what comes -----------------------------------------------------------------------------

void Replica::receive(ReplicaId from, Packet packet) {
  if (const auto* credit = std::get_if<Credit>(&packet)) return outbox_.on_credit(from, *credit);
  if (const auto* release = std::get_if<Release>(&packet)) {
    return outbox_.on_release(from, release->sequence);
  }
  const auto input = plan_.input_from(from);
  ENSURE(input);
  if (plan_.inputs[*input].back) return receive_back(*input, std::move(packet));
  snapshots_.received(*input, packet);
  inbox_.put(*input, std::move(packet));
  count_queued();
}

// In a cycle nobody waits for the head to be done with an item: the head may itself wait for
// somebody in the cycle, inside of `emit`. So the credit goes back at once.
void Replica::receive_back(std::size_t input, Packet packet) {
  if (const auto* batch = std::get_if<Batch>(&packet)) {
    if (!cycle_.came_back(*batch, init_.back_bytes_max) && !guard_.has_failed()) {
      guard_.fail(concat("the cycle of '", node_.name, "': more than ",
                         human_bytes(static_cast<double>(init_.back_bytes_max)),
                         " wait to be taken back, so it makes more items than leave it"));
    }
    if (!guard_.has_failed()) give_credit(input, 1);
  }
  inbox_.put(input, std::move(packet));
  count_queued();
}

// ---- one step -------------------------------------------------------------------------------

Replica::Next Replica::step() {
  if (guard_.has_failed()) return Next::wait;
  outbox_.pump();
  if (snapshots_.serve_requests(stage()) || snapshots_.overtake(stage())) return Next::again;
  parts_.go_on();
  const Next next = work();
  return parts_.can_go_on() ? Next::again : next;
}

Replica::Next Replica::work() {
  if (guard_.has_failed()) return Next::wait;
  const bool no_room = !ended_ && outbox_.must_wait();
  if (no_room != counters_.waits_for_room()) counters_.wait_for_room(no_room, port_.now());
  if (ended_ || no_room || snapshots_.is_held()) return Next::wait;
  if (timer_.call() || clock_.call()) return Next::again;
  if (is_source(node_.role)) return produce();
  if (inbox_.empty()) {
    outbox_.flush_if_asked();
    cycle_.send_held_probe();
    return clock_.is_quiet() ? found_nothing() : Next::wait;
  }
  port_.flush();
  Inbox::Incoming incoming = inbox_.take();
  count_queued();
  if (snapshots_.is_blocked(incoming.input)) {
    inbox_.hold(std::move(incoming));
  } else {
    handle(std::move(incoming));
  }
  return Next::again;
}

// What is set aside behind a barrier has come.
Replica::Next Replica::found_nothing() {
  if (inbox_.holds_some()) {
    clock_.saw_items();
  } else {
    clock_.tell_idle();
  }
  return Next::again;
}

std::optional<Time> Replica::longest_wait() const {
  if (guard_.has_failed()) return std::nullopt;
  std::optional<Time> longest;
  // Without room neither is called: whoever makes some wakes it.
  if (!ended_ && !snapshots_.is_held() && !outbox_.must_wait()) {
    longest = timer_.left();
    if (const auto left = clock_.left()) longest = std::min(*left, longest.value_or(*left));
  }
  if (const auto deadline = snapshots_.next_overtaking()) {
    const Time left = std::max(*deadline - port_.now(), Time{});
    longest = std::min(left, longest.value_or(left));
  }
  return longest;
}

void Replica::handle(Inbox::Incoming incoming) {
  if (auto* batch = std::get_if<Batch>(&incoming.packet)) {
    take(incoming.input, std::move(*batch));
  } else if (const auto* barrier = std::get_if<Barrier>(&incoming.packet)) {
    snapshots_.on_barrier(incoming.input, *barrier, stage());
  } else if (std::holds_alternative<EndOfStream>(incoming.packet)) {
    on_end(incoming.input);
  } else if (const auto* probe = std::get_if<Probe>(&incoming.packet)) {
    cycle_.on_probe(incoming.input, *probe);
  } else if (const auto* mark = std::get_if<Watermark>(&incoming.packet)) {
    clock_.on_watermark(incoming.input, mark->come);
  }
}

void Replica::on_end(std::size_t input) {
  open_inputs_ -= 1;
  snapshots_.on_end(input, stage());
  if (guard_.has_failed()) return;
  if (open_inputs_ == 0) return finish();
  clock_.on_end(input);
  cycle_.on_end(input);
}

void Replica::finish() {
  ENSURE(reorder_.empty());
  outbox_.begin_finish();
  if (!guard_.call("finish", [&] { operator_->finish(outbox_); })) return;
  guard_.no_item();
  clock_.finish();
  outbox_.end();
  count_out();
  ended_ = true;
  counters_.read_ppm.store(1'000'000, std::memory_order_relaxed);
  port_.ended();
}

// ---- items ----------------------------------------------------------------------------------

Replica::Next Replica::produce() {
  Produced produced = Produced::end;
  // The last call's items need not wait for this one, if somebody has asked meanwhile.
  flush_produced();
  const Time start = port_.now();
  const std::int64_t asked = source_.items();
  outbox_.begin_produce(asked, start + Time(SourcePace::call_ns));
  if (!guard_.call("the source", [&] { produced = operator_->produce(outbox_); })) {
    return Next::wait;
  }
  const std::uint64_t took = time_since(start);
  guard_.no_item();
  counters_.busy_ns.fetch_add(took, std::memory_order_relaxed);
  const std::int64_t begun = asked - outbox_.left_to_produce() - (produced == Produced::end);
  count_produced(begun);
  counters_.read_ppm.store(ppm(operator_->progress()), std::memory_order_relaxed);
  if (produced == Produced::end) {
    finish();
    return Next::again;
  }
  clock_.worked();
  if (begun != 0 || produced != Produced::nothing_yet) {
    clock_.saw_items();
  } else if (clock_.is_quiet()) {
    clock_.tell_idle();
  }
  source_.made(begun, took);
  if (produced == Produced::nothing_yet) source_.found_nothing();
  flush_produced();
  outbox_.flush_if_asked(start);
  count_out();
  return produced == Produced::nothing_yet ? Next::poll : Next::again;
}

// A source that is slower than its receivers should not keep an item back for company.
void Replica::flush_produced() {
  if (source_.haste() == SourcePace::Haste::great) outbox_.flush_if_asked();
  if (source_.haste() == SourcePace::Haste::some) outbox_.flush_to_idle();
}

// Nothing leaves a whole program that could be counted: what it begins counts, but for the end.
void Replica::count_produced(std::int64_t begun) {
  if (node_.role != Role::whole) return;
  outbox_.count_begun(static_cast<std::uint64_t>(std::max<std::int64_t>(begun, 0)));
  if (outbox_.items_sent() != 0) note_output();
}

void Replica::take(std::size_t input, Batch batch) {
  counters_.items_in.fetch_add(batch.count, std::memory_order_relaxed);
  counters_.bytes_in.fetch_add(batch.data.size(), std::memory_order_relaxed);
  const flow::InputPlan& from = plan_.inputs[input];
  batch.input = from.input;
  if (from.in_cycle && batch.count != 0) cycle_.on_items();
  if (from.back) {
    cycle_.took_back(batch);
    snapshots_.on_back_batch(input, batch);
  }
  std::uint64_t took = 0;
  const bool has_place = batch.order.sequence != Order::no_sequence;
  if (!node_.ordered || !plan_.ordered_input || !has_place || from.back) {
    took = process(batch);
  } else {
    const ReplicaId origin = batch.order.origin;
    for (Batch& next : reorder_.add(std::move(batch))) {
      if (guard_.has_failed()) return;
      took += process(next);
      release(origin, next.order.sequence + 1);
    }
  }
  if (guard_.has_failed() || from.back) return;
  if (!credits_.take_unpaid(input)) give_credit(input, took);
}

// Returns how long it took.
std::uint64_t Replica::process(Batch& batch) {
  if (node_.role == Role::sink && batch.count != 0) note_output();
  const Time start = port_.now();
  outbox_.begin_batch(batch);
  if (!guard_.call("process", [&] { operator_->process(batch, outbox_); })) return 0;
  guard_.no_item();
  outbox_.end_batch();
  if (outbox_.emitted_after_end()) {
    guard_.fail("'" + node_.name + "' emits into its cycle, which has ended");
    return 0;
  }
  const std::uint64_t took = time_since(start);
  outbox_.flush_if_asked(start);
  clock_.worked();
  clock_.saw_items();
  credits_.worked(batch.count, took);
  counters_.busy_ns.fetch_add(took, std::memory_order_relaxed);
  count_out();
  return took;
}

void Replica::note_output() {
  if (!std::exchange(had_output_, true)) port_.first_output();
}

// Told in steps: an origin that waits has a whole window on the way.
void Replica::release(ReplicaId origin, std::uint64_t sequence) {
  std::uint64_t& released = released_[origin];
  if (sequence < released + 4) return;
  released = sequence;
  port_.send(origin, Release{sequence});
}

void Replica::give_credit(std::size_t input, std::uint64_t took) {
  // Round a cycle what is said of later nodes would come back to whoever said it, and never be
  // forgotten.
  const std::uint64_t after = plan_.inputs[input].back ? 0 : outbox_.downstream_ns_per_item();
  port_.send(plan_.inputs[input].from, credits_.done(input, took, after));
}

// Time that the operator worked, without what it waited for room.
std::uint64_t Replica::time_since(Time start) {
  const Time waited = outbox_.take_waited();
  return static_cast<std::uint64_t>(std::max(port_.now() - start - waited, Time{}).count());
}

}  // namespace piracema::runtime
