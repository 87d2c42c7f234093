#include "run/replica.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/ensure.h"
#include "base/text.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace piracema::runtime {

namespace {

constexpr std::uint64_t no_item = std::numeric_limits<std::uint64_t>::max();
constexpr auto relaxed = std::memory_order_relaxed;

// A call of a source should last about so long: short enough to look at what else there is to
// do, long enough for that to cost nothing.
constexpr std::uint64_t produce_target_ns = 200'000;

// An item waits at most about so long for company.
constexpr Time linger_max = std::chrono::milliseconds(1);

std::uint64_t ns(Time time) { return static_cast<std::uint64_t>(time.count()); }

std::size_t back_edges(const flow::ReplicaPlan& plan) {
  return static_cast<std::size_t>(std::count_if(plan.inputs.begin(), plan.inputs.end(),
                                                [](const auto& input) { return input.back; }));
}

// What a batch takes while it waits: its items, and about so much besides.
std::size_t weight(const Batch& batch) {
  return batch.data.size() + 8 * batch.ids.size() + sizeof(Batch);
}

}  // namespace

void Counters::clear() {
  for (auto* counter : {&items_in, &items_out, &bytes_in, &bytes_out, &busy_ns}) counter->store(0);
  read_ppm.store(0);
}

Replica::Replica(ReplicaId self, const flow::ReplicaPlan& plan, const Graph& graph,
                 Beginning beginning, Port& port, Counters& counters,
                 std::atomic<std::uint64_t>* at_work)
    : self_(self),
      plan_(plan),
      node_(graph.shape.nodes[plan.node]),
      make_(graph.code[plan.node]),
      beginning_(std::move(beginning)),
      port_(port),
      counters_(counters),
      own_at_work_(no_item),
      at_work_(at_work != nullptr ? *at_work : own_at_work_),
      outbox_(self, plan, graph, beginning_.skips, beginning_.neighbours, port, &at_work_),
      held_(plan.inputs.size()),
      aligner_(plan.inputs.size()),
      back_log_(back_edges(plan)),
      back_number_(plan.inputs.size()),
      open_inputs_(plan.inputs.size()),
      granted_(plan.inputs.size(), CreditPace::batches_min),
      unsaid_(plan.inputs.size()),
      paces_(plan.inputs.size()) {
  counters_.clear();
  at_work_.store(no_item, relaxed);
  std::size_t back = 0;
  std::vector<bool> in_cycle;
  for (std::size_t input = 0; input < plan_.inputs.size(); ++input) {
    in_cycle.push_back(plan_.inputs[input].in_cycle);
    if (!plan_.inputs[input].back) continue;
    back_number_[input] = back++;
    aligner_.leave_out(input);
  }
  if (plan_.heads != 0) cycle_.emplace(std::move(in_cycle), plan_.is_head, plan_.heads);
}

Replica::~Replica() = default;

// ---- the user's code ------------------------------------------------------------------------

// Nothing that a user throws leaves the replica; Interrupted passes through.
template <class Call>
bool Replica::guarded(const char* what, Call call) {
  try {
    call();
    return true;
  } catch (const std::exception& error) {
    fail(std::nullopt, concat(what, ": ", error.what()));
  } catch (const Interrupted&) {
    throw;
  } catch (...) {
    fail(std::nullopt, concat(what, ": it threw something that is no std::exception"));
  }
  return false;
}

void Replica::fail(std::optional<std::uint64_t> item, std::string why) {
  const std::uint64_t at = at_work_.load(relaxed);
  if (!item && at != no_item) item = at;
  failed_ = true;
  port_.failed(item, std::move(why));
}

void Replica::begin() {
  guarded("start", [&] {
    operator_ = make_();
    if (beginning_.state) {
      if (auto restored = restore(*beginning_.state); !restored) {
        throw DecodeError("its part of the snapshot is not a state: " + restored.error().message);
      }
    }
    beginning_.context.wake = port_.waker();
    operator_->open(beginning_.context);
    if (beginning_.state) operator_->restored(beginning_.snapshot);
    beginning_.state.reset();
  });
}

Result<Done> Replica::restore(Bytes part) {
  wire::Reader reader(part);
  const auto stage = static_cast<Stage>(reader.number<std::uint8_t>());
  const Bytes state = reader.bytes();
  if (!plan_.is_head) {
    if (auto read = reader.finish(); !read) return read;
  } else if (reader.ok()) {
    auto log = read_log(reader.raw(reader.left()));
    if (!log) return log.error();
    // What was under way comes first.
    for (BackLog::Logged& logged : *log) {
      const auto input = plan_.input_from(logged.from);
      if (!input || !plan_.inputs[*input].back) {
        return Error{Errc::corrupt, concat("it has a batch of replica ", logged.from)};
      }
      back_bytes_ += weight(logged.batch);
      back_inbox_.push_back({*input, std::move(logged.batch)});
    }
  }
  if (!reader.ok()) return reader.finish();
  ended_ = stage == Stage::ended;
  cycle_ended_ = stage == Stage::cycle_ended;
  operator_->load(state);
  return Done{};
}

void Replica::start() {
  if (ended_ && !failed_) {
    // What had ended in the snapshot has nothing to do but to say so again.
    outbox_.end();
    port_.ended();
    return;
  }
  for (const flow::InputPlan& input : plan_.inputs) {
    port_.send(input.from, Credit{CreditPace::batches_min, 0, 0});
  }
  // Those in the cycle that had not heard of it in the snapshot hear of it again.
  if (cycle_ended_) outbox_.end_cycle();
}

// ---- what it is told ------------------------------------------------------------------------

void Replica::receive(ReplicaId from, Packet packet) {
  if (const auto* credit = std::get_if<Credit>(&packet)) return outbox_.on_credit(from, *credit);
  if (const auto* release = std::get_if<Release>(&packet)) {
    return outbox_.on_release(from, release->sequence);
  }
  const auto input = plan_.input_from(from);
  ENSURE(input);
  if (plan_.inputs[*input].back) return receive_back(*input, std::move(packet));
  inbox_.push_back({*input, std::move(packet)});
}

// In a cycle nobody waits for the head to be done with an item: the head may itself wait for
// somebody in the cycle, inside of `emit`. So the credit goes back at once.
void Replica::receive_back(std::size_t input, Packet packet) {
  if (const auto* batch = std::get_if<Batch>(&packet)) {
    back_bytes_ += weight(*batch);
    if (back_bytes_ > beginning_.back_bytes_max && !failed_) {
      fail(std::nullopt, concat("the cycle of '", node_.name, "': more than ",
                                human_bytes(static_cast<double>(beginning_.back_bytes_max)),
                                " wait to be taken back, so it makes more items than leave it"));
    }
    if (!failed_) give_credit(input, 1);
  }
  back_inbox_.push_back({input, std::move(packet)});
}

bool Replica::is_blocked(std::size_t input) const {
  return plan_.inputs[input].back ? back_log_.is_blocked(back_number_[input])
                                  : aligner_.is_blocked(input);
}

Replica::Next Replica::step() {
  if (failed_) return Next::wait;
  outbox_.pump();
  if (serve_requests()) return Next::again;
  if (ended_ || outbox_.must_wait()) return Next::wait;
  if (is_source(node_.role)) return produce();
  auto& inbox = back_inbox_.empty() ? inbox_ : back_inbox_;
  if (inbox.empty()) {
    outbox_.flush_if_asked();
    return Next::wait;
  }
  Incoming incoming = std::move(inbox.front());
  inbox.pop_front();
  if (is_blocked(incoming.input)) {
    held_[incoming.input].push_back(std::move(incoming.packet));
  } else {
    handle(std::move(incoming));
  }
  return Next::again;
}

bool Replica::serve_requests() {
  // A replica that saved it and then ended may be asked once more: the coordinator heard of its
  // end before it heard of its state. So may a head, which is asked in case no barrier comes.
  while (!triggers_.empty() && triggers_.front() <= last_saved_) triggers_.pop_front();
  const bool starts_barriers =
      is_source(node_.role) || ended_ || (plan_.is_head && aligner_.all_ended());
  const bool may_save = !triggers_.empty() && starts_barriers;
  // What is committed was prepared before, even if it could not be stored after that.
  const bool save_first = may_save && !commits_.empty() && triggers_.front() <= commits_.front();
  if (!commits_.empty() && !save_first) {
    const SnapshotId snapshot = commits_.front();
    commits_.pop_front();
    if (guarded("commit", [&] { operator_->commit(snapshot); })) port_.committed(snapshot);
    return true;
  }
  if (may_save) {
    const SnapshotId wanted = triggers_.front();
    triggers_.pop_front();
    snapshot(wanted);
    return true;
  }
  return false;
}

// ---- sources --------------------------------------------------------------------------------

Replica::Next Replica::produce() {
  Produced produced = Produced::end;
  const Time start = port_.now();
  const std::int64_t asked = produce_items_;
  outbox_.begin_produce(asked);
  if (!guarded("the source", [&] { produced = operator_->produce(outbox_); })) return Next::wait;
  const std::uint64_t took = time_since(start);
  if (took < produce_target_ns / 2) {
    produce_items_ = std::min<std::int64_t>(produce_items_ * 2, 1 << 20);
  } else if (took > produce_target_ns * 2) {
    produce_items_ = std::max<std::int64_t>(produce_items_ / 2, 1);
  }
  at_work_.store(no_item, relaxed);
  counters_.busy_ns.fetch_add(took, relaxed);
  if (node_.role == Role::whole) {
    // Nothing leaves it that could be counted: what it begins counts, but for the end.
    const std::int64_t begun = asked - outbox_.left_to_produce() - (produced == Produced::end);
    consumed_ += static_cast<std::uint64_t>(std::max<std::int64_t>(begun, 0));
    if (consumed_ != 0) note_output();
  }
  const double read = operator_->progress();
  counters_.read_ppm.store(
      read < 0 ? 1'000'001 : static_cast<std::uint32_t>(std::lround(std::min(read, 1.0) * 1e6)),
      relaxed);
  if (produced == Produced::end) {
    finish();
    return Next::again;
  }
  // A source that is slower than its receivers should not keep an item back for company.
  if (produced == Produced::nothing_yet || took >= produce_target_ns) outbox_.flush_if_asked();
  linger(start);
  count_out();
  return produced == Produced::nothing_yet ? Next::poll : Next::again;
}

// ---- nodes and sinks ------------------------------------------------------------------------

void Replica::handle(Incoming incoming) {
  if (auto* batch = std::get_if<Batch>(&incoming.packet)) {
    take(incoming.input, std::move(*batch));
  } else if (const auto* barrier = std::get_if<Barrier>(&incoming.packet)) {
    if (plan_.inputs[incoming.input].back) {
      back_log_.on_barrier(back_number_[incoming.input], barrier->snapshot);
      save_complete();
    } else {
      on_aligned(aligner_.on_barrier(incoming.input, barrier->snapshot));
    }
  } else if (std::holds_alternative<EndOfStream>(incoming.packet)) {
    on_end(incoming.input);
  } else if (const auto* probe = std::get_if<Probe>(&incoming.packet)) {
    send_round(cycle_->on_probe(incoming.input, *probe));
  }
}

void Replica::take(std::size_t input, Batch batch) {
  counters_.items_in.fetch_add(batch.count, relaxed);
  counters_.bytes_in.fetch_add(batch.data.size(), relaxed);
  const flow::InputPlan& from = plan_.inputs[input];
  batch.input = from.input;
  if (from.in_cycle && batch.count != 0) cycle_->on_items();
  if (from.back) {
    back_bytes_ -= weight(batch);
    back_log_.on_batch(back_number_[input], from.from, batch);
  }
  std::uint64_t took = 0;
  const bool has_place = batch.order.sequence != Order::no_sequence;
  if (!node_.ordered || !plan_.ordered_input || !has_place || from.back) {
    took = process(batch);
  } else {
    const ReplicaId origin = batch.order.origin;
    for (const Batch& next : reorder_.add(std::move(batch))) {
      if (failed_) return;
      took += process(next);
      release(origin, next.order.sequence + 1);
    }
  }
  if (!failed_ && !from.back) give_credit(input, took);
}

// Told in steps: an origin that waits has a whole window on the way.
void Replica::release(ReplicaId origin, std::uint64_t sequence) {
  std::uint64_t& released = released_[origin];
  if (sequence < released + 4) return;
  released = sequence;
  port_.send(origin, Release{sequence});
}

void Replica::note_output() {
  if (!std::exchange(had_output_, true)) port_.first_output();
}

// Returns how long it took.
std::uint64_t Replica::process(const Batch& batch) {
  if (node_.role == Role::sink && batch.count != 0) note_output();
  const Time start = port_.now();
  outbox_.begin_batch(batch);
  if (!guarded("process", [&] { operator_->process(batch, outbox_); })) return 0;
  at_work_.store(no_item, relaxed);
  outbox_.end_batch();
  if (outbox_.emitted_after_end()) {
    fail(std::nullopt, concat("'", node_.name, "' emits into its cycle, which has ended"));
    return 0;
  }
  const std::uint64_t took = time_since(start);
  linger(start);
  if (batch.count != 0) {
    const std::uint64_t each = std::max<std::uint64_t>(took / batch.count, 1);
    ns_per_item_ = ns_per_item_ == 0 ? each : (3 * ns_per_item_ + each) / 4;
  }
  counters_.busy_ns.fetch_add(took, relaxed);
  count_out();
  return took;
}

void Replica::give_credit(std::size_t input, std::uint64_t took) {
  const std::uint32_t credits = paces_[input].done(took, granted_[input]);
  unsaid_[input] += 1;
  if (credits == 0) return;
  // The slowest node of those that follow decides how large a piece of work should be.
  // Round a cycle that would come back to whoever said it, and never be forgotten.
  const std::uint64_t after = plan_.inputs[input].back ? 0 : outbox_.downstream_ns_per_item();
  const std::uint64_t slowest = std::max(ns_per_item_, after);
  port_.send(plan_.inputs[input].from, Credit{credits, slowest, std::exchange(unsaid_[input], 0)});
}

// Time that the operator worked, without what it waited for room.
std::uint64_t Replica::time_since(Time start) {
  const Time waited = outbox_.take_waited();
  return ns(std::max(port_.now() - start - waited, Time{}));
}

void Replica::linger(Time now) {
  if (now - flushed_ < linger_max) return;
  flushed_ = now;
  outbox_.flush_if_asked();
}

void Replica::count_out() {
  counters_.items_out.store(outbox_.items_sent() + consumed_, relaxed);
  counters_.bytes_out.store(outbox_.bytes_sent(), relaxed);
}

// ---- snapshots and the end ------------------------------------------------------------------

void Replica::on_end(std::size_t input) {
  open_inputs_ -= 1;
  if (plan_.inputs[input].back) {
    back_log_.on_end(back_number_[input]);
    save_complete();
  } else {
    on_aligned(aligner_.on_end(input));
  }
  if (failed_) return;
  if (open_inputs_ == 0) return finish();
  if (cycle_) send_round(cycle_->on_end(input));
}

void Replica::send_round(std::optional<Probe> probe) {
  if (cycle_ended_) return;
  for (; probe; probe = cycle_->go_on()) outbox_.probe(*probe);
  if (!cycle_->is_empty()) return;
  cycle_ended_ = true;
  outbox_.end_cycle();
}

void Replica::on_aligned(std::optional<SnapshotId> aligned) {
  if (aligned) snapshot(*aligned);
}

// What was held back comes next, in the order in which it came.
void Replica::release_held() {
  for (std::size_t input = held_.size(); input-- > 0;) {
    auto& inbox = plan_.inputs[input].back ? back_inbox_ : inbox_;
    while (!held_[input].empty() && !is_blocked(input)) {
      inbox.push_front({input, std::move(held_[input].back())});
      held_[input].pop_back();
    }
  }
}

// Carbone et al. 2015, Algorithm 1: save the state, pass the barrier on, go on. The state is
// copied here and stored in the background; that of a head when what was under way in its cycle
// has come.
void Replica::snapshot(SnapshotId snapshot) {
  ENSURE(reorder_.empty());  // All batches before the barrier have come, so no place is missing.
  guarded("snapshot", [&] {
    operator_->prepare(snapshot);
    outbox_.flush();
    count_out();
    Buffer state, part;
    operator_->save(state);
    wire::Writer writer(part);
    const Stage stage = ended_ ? Stage::ended : cycle_ended_ ? Stage::cycle_ended : Stage::running;
    writer.number(static_cast<std::uint8_t>(stage));
    writer.bytes(state);
    last_saved_ = snapshot;
    if (plan_.is_head) {
      back_log_.cut(snapshot, std::move(part));
    } else {
      port_.save(snapshot, std::move(part));
    }
    if (!ended_) outbox_.barrier(snapshot);
  });
  save_complete();
  release_held();
}

void Replica::save_complete() {
  while (auto part = back_log_.take()) port_.save(part->snapshot, std::move(part->bytes));
}

void Replica::finish() {
  ENSURE(reorder_.empty());
  outbox_.begin_finish();
  if (!guarded("finish", [&] { operator_->finish(outbox_); })) return;
  at_work_.store(no_item, relaxed);
  outbox_.end();
  count_out();
  ended_ = true;
  counters_.read_ppm.store(1'000'000, relaxed);
  port_.ended();
}

}  // namespace piracema::runtime
