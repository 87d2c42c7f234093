#include <malloc.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "smr/replica/replica_node.h"

/// What a replica is told, and what its core then wants; what it keeps is in replica_node_disk.cpp.
namespace piracema::smr {

// ---- the loop --------------------------------------------------------------------------------

Result<Done> ReplicaNode::run() {
  step(Tick{});
  recall_views();
  while (!stopped_ && !failure_) {
    step_all();
    tell_standing();
    if (log_) log_->kick();
    flush_list_.flush();
    if (failure_) break;
    // Members are read by that; clients only after it.
    poller_.run_once(time_to_wait());
    turns_.run(clients_time);
  }
  own_.close({Errc::timeout, "the replica has ended; it may be executed all the same"});
  if (failure_) return *failure_;
  return Done{};
}

void ReplicaNode::invoke(bool ordered, Bytes operation, Invoker::Callback done) {
  own_.ask(ordered, Buffer(operation), now() + Time(place_.operation_timeout), std::move(done));
}

void ReplicaNode::stop() {
  poller_.post([this] { stopped_ = true; });
}

std::chrono::milliseconds ReplicaNode::time_to_wait() const {
  using std::chrono::milliseconds;
  if (!inbox_.empty() || !turns_.empty()) return milliseconds(0);
  auto deadline = core_->next_deadline();
  if (const auto look = held_reads_.next_look())
    deadline = std::min(deadline.value_or(*look), *look);
  if (!deadline) return port_tick_interval;
  const auto left = std::chrono::ceil<milliseconds>(*deadline - now());
  return std::clamp(left, milliseconds(0), port_tick_interval);
}

// The core is told of everything that has come before it is told that it is time: so a batch has
// all of it.
void ReplicaNode::step_all() {
  do {
    while (!inbox_.empty()) {
      looked_at_.swap(inbox_);
      for (Event& event : looked_at_) step(std::move(event));
      looked_at_.clear();
      execution_->run();
    }
    const auto deadline = core_->next_deadline();
    if (deadline && *deadline <= now()) step(Tick{});
    execution_->run();
  } while (!inbox_.empty() && !failure_);
  const Time time = now();
  look_at_held_reads(time);
  if (time - port_tick_ < port_tick_interval) return;
  port_tick_ = time;
  clients_->tick(time);
  own_.tick(time);
  give_memory_back();
  watch_memory(time);
  tell_figures(time);
  if (leave_at_ && time >= *leave_at_) stopped_ = true;
}

// Nobody else does: what malloc has freed it keeps for the next flood.
void ReplicaNode::give_memory_back() {
  const std::size_t bytes = clients_->bytes();
  clients_bytes_most_ = std::max(clients_bytes_most_, bytes);
  if (clients_bytes_most_ < much_bytes || bytes > clients_bytes_most_ / 8) return;
  clients_bytes_most_ = bytes;
  ::malloc_trim(0);
}

void ReplicaNode::step(Event event) {
  if (failure_) return;
  core_->step(now(), std::move(event), actions_);
  for (Action& action : actions_) {
    std::visit([this](auto& one) { act(one); }, action);
  }
  actions_.clear();
}

void ReplicaNode::tell_standing() {
  count_.follows(now(), core_->leader());
  clients_->set_standing({core_->view().id, core_->regency(), core_->leader()});
  tell_leading();
}

// Regencies begin anew with each view. Who leads in the next one, too, has not ceased to.
void ReplicaNode::tell_leading() {
  constexpr int regency_bits = 32;
  std::optional<std::uint64_t> term;
  if (core_->leads()) term = std::uint64_t{core_->view().id} << regency_bits | core_->regency();
  if (term == leading_) return;
  const bool leads_on = term && leading_ && *term >> regency_bits != *leading_ >> regency_bits;
  if (leading_ && !leads_on && place_.leads_no_longer) place_.leads_no_longer();
  leading_ = term;
  if (term && place_.leads) place_.leads(*term);
}

// Views that were signed in an earlier life of this process are not told again.
void ReplicaNode::recall_views() {
  const std::vector<SignedView> known = core_->signed_views();
  if (known.empty() || known.back().view.id <= newest_view_.id) return;
  newest_view_ = known.back().view;
  meet_members();
}

void ReplicaNode::submit(Request request) {
  if (authenticator_.verify(request)) inbox_.push_back(Submitted{std::move(request)});
}

// The leader has it at once, and not only when this replica's patience with it ends.
void ReplicaNode::submit_own(Request request) {
  if (core_->leader() != place_.id) send_now(core_->leader(), message(Forward{{request}}));
  inbox_.push_back(Submitted{std::move(request)});
}

void ReplicaNode::answer_again(Request request, std::function<void(Request)> submit_it) {
  execution_->answer_again(std::move(request), std::move(submit_it));
}

void ReplicaNode::read(std::uint64_t token, Buffer operation) {
  reads_[token] = std::move(operation);
  inbox_.push_back(ReadAsked{token});
}

void ReplicaNode::look_at_held_reads(Time time) {
  const auto due = held_reads_.due(time);
  if (due.empty()) return;
  for (const std::uint64_t token : due) {
    execution_->query(held_reads_.operation(token), [this, token](const Buffer& result) {
      if (held_reads_.told(token, result, now())) answer_read(token, true, result);
    });
  }
  held_reads_.asked(time, now());
}

void ReplicaNode::answer_read(std::uint64_t token, bool known, Bytes result) {
  if (token >= local_client_base) return own_.read_reply(token, known, result);
  clients_->read_reply(token, known, result);
}

void ReplicaNode::received(ReplicaId from, std::uint8_t kind, Bytes bytes) {
  if (kind == life_kind) return heard_life(from, bytes);
  if (kind == life_refused_kind) return heard_refusal(from, bytes);
  if (kind != replica_message_kind || lives_.is_forgetful(from)) return;
  auto message = decode_message(bytes);
  if (message) {
    inbox_.push_back(Received{from, *std::move(message)});
  } else {
    nonsense_.log(Level::warning, concat("replica ", from,
                                         " sent what no replica sends: ", message.error().message));
  }
}

void ReplicaNode::fail(Error why) {
  if (!failure_) failure_ = std::move(why);
}

// ---- what the core wants ---------------------------------------------------------------------

void ReplicaNode::act(Send& send) {
  if (send.after_log && log_ && durable_ < log_->appended()) {
    held_.push_back({log_->appended(), send.to, std::move(send.message)});
  } else {
    send_now(send.to, send.message);
  }
}

void ReplicaNode::send_now(ReplicaId to, const MessagePtr& message) {
  if (to == place_.id) {
    inbox_.push_back(Received{to, message});
    return;
  }
  const MessagePtr said = place_.distort ? place_.distort(to, message) : message;
  if (!said) return;
  if (encoded_of_ != said) {
    encoded_ = encode(*said);
    encoded_of_ = said;
  }
  peers_->send(to, replica_message_kind, encoded_.head,
               encoded_.body ? Bytes(*encoded_.body) : Bytes());
}

void ReplicaNode::release_held() {
  while (!held_.empty() && held_.front().after <= durable_) {
    const Held held = std::move(held_.front());
    held_.pop_front();
    send_now(held.to, held.message);
  }
}

void ReplicaNode::act(Execute& execute) {
  count_.executed(execute.batch->requests.size());
  execution_->execute(std::move(execute));
}

void ReplicaNode::act(ReadNow& read) {
  const auto found = reads_.find(read.token);
  if (found == reads_.end()) return;
  Buffer operation = std::move(found->second);
  reads_.erase(found);
  count_.read();
  execution_->query(std::move(operation), [this, token = read.token](const Buffer& result) {
    answer_read(token, true, result);
  });
}

void ReplicaNode::act(TellTrail& tell) {
  execution_->tell_trail(
      tell.asked, [this, to = tell.to](Trail trail) { send_now(to, message(std::move(trail))); });
}

void ReplicaNode::act(Refuse& refuse) {
  reads_.erase(refuse.token);
  answer_read(refuse.token, false, {});
}

void ReplicaNode::act(UseView& use) {
  view_ = use.view;
  if (view_.id > newest_view_.id) newest_view_ = view_;
  if (was_member_ && !view_.has(place_.id)) {
    log(Level::info,
        concat("view ", view_.id, " is without this replica: it was removed, and ends"));
    leave_at_ = now() + leave_time;
  }
  meet_members();
  was_member_ = was_member_ || view_.has(place_.id);
}

void ReplicaNode::act(Note& note) { log(note.warning ? Level::warning : Level::info, note.text); }

void ReplicaNode::act(Halt& halt) { fail({Errc::failed, halt.why}); }

}  // namespace piracema::smr
