#include "topology/mst/node.h"

#include <algorithm>
#include <limits>

namespace piracema::coll::mst {

namespace {
constexpr std::uint32_t tag_nothing_failed = 1;
constexpr std::uint32_t tag_merged = 2;
const Weight lightest{-std::numeric_limits<double>::infinity(), 0, 0};
}  // namespace

Sends Node::start(const std::vector<std::pair<Rank, double>>& costs) {
  ENSURE(idle());
  round_ += 1;
  phase_ = Phase::failures;
  Sends out;
  take_failures(costs);
  begin_failures(out);
  retry(out);
  return out;
}

Sends Node::on(Rank from, const Message& message) {
  Sends out;
  if (handle(from, message, out)) {
    retry(out);
  } else {
    deferred_.emplace_back(from, message);
  }
  return out;
}

// Whatever was handled may be what a deferred message has waited for.
void Node::retry(Sends& out) {
  for (std::size_t i = 0; i < deferred_.size();) {
    const auto [from, message] = deferred_[i];
    if (handle(from, message, out)) {
      deferred_.erase(deferred_.begin() + static_cast<std::ptrdiff_t>(i));
      i = 0;
    } else {
      i += 1;
    }
  }
}

bool Node::handle(Rank from, const Message& message, Sends& out) {
  // A neighbour may be a round ahead; nobody is behind, since a round ends when all is said.
  if (idle() || message.round != round_) {
    ENSURE(message.round == round_ + 1);
    return false;
  }
  switch (message.type) {
    case MessageType::fail:
      on_fail(out);
      return true;
    case MessageType::not_fail:
      on_not_fail(from, message.number, out);
      return true;
    case MessageType::not_fail_ack:
      on_not_fail_ack(message.number, out);
      return true;
    case MessageType::gosleep_fail:
      sleep_failures(from, out);
      return true;
    case MessageType::not_rec:
      on_not_rec(from, message.number, out);
      return true;
    case MessageType::not_rec_ack:
      on_not_rec_ack(from, message, out);
      return true;
    case MessageType::go_on:
      on_go_on(message, out);
      return true;
    case MessageType::recover:
      on_recover(from, message, out);
      return true;
    case MessageType::recover_ack:
      on_recover_ack(from, message, out);
      return true;
    case MessageType::swap:
      on_swap(from, message, out);
      return true;
    case MessageType::swap_done:
      edges_.mark(from, EdgeState::branch);
      go_on(out);
      return true;
    case MessageType::gosleep_rec:
      sleep_recoveries(from, out);
      return true;
    default:
      if (!fragment_.on(from, message, edges_, out)) return false;
      on_fragment(out);
      return true;
  }
}

void Node::send(Sends& out, Rank to, MessageType type, std::uint32_t number, Weight weight,
                Weight other, bool flag) const {
  out.push_back({to,
                 {.type = type,
                  .flag = flag,
                  .round = round_,
                  .number = number,
                  .weight = weight,
                  .other = other}});
}

std::uint32_t Node::spread(Sends& out, Rank from, MessageType type, std::uint32_t number,
                           Weight weight, Weight other) const {
  const auto neighbours = edges_.branches(from);
  for (const Rank to : neighbours) send(out, to, type, number, weight, other);
  return static_cast<std::uint32_t>(neighbours.size());
}

// ---- failures

// The first half of a round: failures, and how all learn that there are no more. The paper leaves
// open who the root is while fragments merge, and what happens when several nodes suspect the end:
// here only roots ask. That of the old tree asks with tag 1 in case that nothing has failed;
// whoever has a failure does not answer, but tells the root. When the fragments have merged, the
// larger end of the last core is the root of the whole tree, and asks with tag 2.

void Node::take_failures(const std::vector<std::pair<Rank, double>>& costs) {
  failed_below_ = fail_passed_on_ = end_asked_ = false;
  tag_ = 0;
  lighter_.clear();
  Rank parent = fragment_.towards_root();
  bool cut_off = false;
  edges_.forget_rejected();
  for (const auto& [to, cost] : costs) {
    const Weight weight = Weight::of(cost, me_, to);
    if (!edges_.has(to)) {
      ENSURE(round_ == 0);
      edges_.set(to, weight);
    } else if (edges_.weight(to) < weight) {
      edges_.set(to, weight);
      if (!edges_.is_branch(to)) continue;
      edges_.mark(to, EdgeState::basic);
      if (to == parent) {
        cut_off = true;
      } else {
        failed_below_ = true;
      }
    } else if (weight < edges_.weight(to)) {
      // Until all failures are dealt with it weighs what it did.
      lighter_.emplace_back(to, weight);
    }
  }
  if (cut_off) {
    parent = no_rank;
    failed_below_ = true;
  }
  fragment_.begin(me_, round_, parent);
}

void Node::begin_failures(Sends& out) {
  const bool root = fragment_.towards_root() == no_rank;
  if (round_ == 0 || (root && failed_below_)) {
    fragment_.look(edges_, out);
    on_fragment(out);
  } else if (root) {
    ask_not_fail(tag_nothing_failed, out);
  } else if (failed_below_) {
    fail_passed_on_ = true;
    send(out, fragment_.towards_root(), MessageType::fail);
  }
}

void Node::on_fail(Sends& out) {
  // A fragment that has its new name knows already.
  if (fragment_.state() != Fragment::State::reiden || fail_passed_on_) return;
  fail_passed_on_ = true;
  if (fragment_.towards_root() != no_rank) {
    send(out, fragment_.towards_root(), MessageType::fail);
  } else {
    fragment_.look(edges_, out);
  }
}

void Node::on_fragment(Sends& out) {
  if (!fragment_.complete() || end_asked_) return;
  end_asked_ = true;
  // Both ends of the core know; for a root that is alone the other end is nobody.
  const Rank other = fragment_.towards_root();
  if (other == no_rank || me_ > other) ask_not_fail(tag_merged, out);
}

void Node::ask_not_fail(std::uint32_t tag, Sends& out) {
  tag_ = tag;
  asked_by_ = no_rank;
  answers_missing_ = spread(out, no_rank, MessageType::not_fail, tag);
  if (answers_missing_ == 0) not_fail_done(out);
}

void Node::on_not_fail(Rank from, std::uint32_t tag, Sends& out) {
  if (tag <= tag_) return;
  tag_ = tag;
  asked_by_ = from;
  // Whoever has failures to deal with does not pass it on.
  const bool named = fragment_.state() != Fragment::State::reiden;
  if (tag == tag_nothing_failed && (failed_below_ || named)) return;
  ENSURE(tag == tag_nothing_failed || fragment_.state() == Fragment::State::found);
  answers_missing_ = spread(out, from, MessageType::not_fail, tag);
  if (answers_missing_ == 0) not_fail_done(out);
}

void Node::on_not_fail_ack(std::uint32_t tag, Sends& out) {
  if (tag != tag_) return;
  ENSURE(answers_missing_ > 0);
  answers_missing_ -= 1;
  if (answers_missing_ == 0) not_fail_done(out);
}

void Node::not_fail_done(Sends& out) {
  if (asked_by_ == no_rank) {
    sleep_failures(no_rank, out);
  } else {
    send(out, asked_by_, MessageType::not_fail_ack, tag_);
  }
}

void Node::sleep_failures(Rank from, Sends& out) {
  ENSURE(phase_ == Phase::failures);
  fragment_.set_towards_root(from);
  spread(out, from, MessageType::gosleep_fail);
  // The first tree has no recoveries.
  if (round_ == 0) {
    phase_ = Phase::idle;
  } else {
    begin_recoveries(from == no_rank, out);
  }
}

// ---- recoveries

// The second half of a round: recoveries, and how all learn that there are no more. The root asks
// (not_rec) for the lightest edge that wants to go in; its lower end is the root from then on
// (go_on). That one spreads the edge over the tree (recover); the answers tell where the other end
// is, and the heaviest edge on the way. A root without edges of its own asks again; when nobody has
// one, all go to sleep. At any time one node decides, so no two swaps can meet.

void Node::begin_recoveries(bool root, Sends& out) {
  phase_ = Phase::recoveries;
  tag_ = 0;
  for (const auto& [to, weight] : lighter_) {
    edges_.set(to, weight);
    // An edge of the tree stays in it. The lower end of any other one sees to it.
    if (!edges_.is_branch(to) && me_ == weight.low) recovered_.push_back(weight);
  }
  // The lightest last.
  std::sort(recovered_.rbegin(), recovered_.rend());
  if (root) go_on(out);
}

void Node::go_on(Sends& out) {
  asked_by_ = no_rank;
  if (!recovered_.empty()) {
    recovering_ = recovered_.back();
    recovered_.pop_back();
    found_ = false;
    answers_missing_ = spread(out, no_rank, MessageType::recover, 0, recovering_, lightest);
    ENSURE(answers_missing_ > 0);  // The other end is somewhere in the tree.
    return;
  }
  tag_ += 1;
  next_ = {};
  answers_missing_ = spread(out, no_rank, MessageType::not_rec, tag_);
  if (answers_missing_ == 0) not_rec_done(out);
}

void Node::on_not_rec(Rank from, std::uint32_t tag, Sends& out) {
  tag_ = tag;
  asked_by_ = from;
  next_ = recovered_.empty() ? Weight{} : recovered_.back();
  next_via_ = no_rank;
  answers_missing_ = spread(out, from, MessageType::not_rec, tag);
  if (answers_missing_ == 0) not_rec_done(out);
}

void Node::on_not_rec_ack(Rank from, const Message& message, Sends& out) {
  if (message.number != tag_) return;
  if (message.weight < next_) {
    next_ = message.weight;
    next_via_ = from;
  }
  ENSURE(answers_missing_ > 0);
  answers_missing_ -= 1;
  if (answers_missing_ == 0) not_rec_done(out);
}

void Node::not_rec_done(Sends& out) {
  if (asked_by_ != no_rank) {
    send(out, asked_by_, MessageType::not_rec_ack, tag_, next_);
  } else if (next_.is_none()) {
    sleep_recoveries(no_rank, out);
  } else {
    send(out, next_via_, MessageType::go_on, tag_, next_);
  }
}

void Node::on_go_on(const Message& message, Sends& out) {
  tag_ = message.number;
  if (next_via_ == no_rank) {
    go_on(out);
  } else {
    send(out, next_via_, MessageType::go_on, tag_, message.weight);
  }
}

void Node::on_recover(Rank from, const Message& message, Sends& out) {
  asked_by_ = from;
  recovering_ = message.weight;
  heaviest_ = std::max(message.other, edges_.weight(from));
  found_ = me_ == recovering_.high;
  found_via_ = no_rank;
  answers_missing_ = spread(out, from, MessageType::recover, 0, recovering_, heaviest_);
  if (answers_missing_ == 0) recover_done(out);
}

void Node::on_recover_ack(Rank from, const Message& message, Sends& out) {
  if (message.flag) {
    found_ = true;
    found_via_ = from;
    heaviest_ = message.other;
  }
  ENSURE(answers_missing_ > 0);
  answers_missing_ -= 1;
  if (answers_missing_ == 0) recover_done(out);
}

void Node::recover_done(Sends& out) {
  if (asked_by_ != no_rank) {
    send(out, asked_by_, MessageType::recover_ack, 0, recovering_, heaviest_, found_);
    return;
  }
  ENSURE(found_);
  if (heaviest_ < recovering_) {
    go_on(out);
  } else {
    pass_swap(recovering_, heaviest_, out);
  }
}

void Node::pass_swap(Weight in, Weight out_of, Sends& out) {
  if (edges_.weight(found_via_) == out_of) edges_.mark(found_via_, EdgeState::rejected);
  send(out, found_via_, MessageType::swap, 0, in, out_of);
}

void Node::on_swap(Rank from, const Message& message, Sends& out) {
  if (edges_.weight(from) == message.other) edges_.mark(from, EdgeState::rejected);
  if (me_ != message.weight.high) {
    pass_swap(message.weight, message.other, out);
    return;
  }
  edges_.mark(message.weight.low, EdgeState::branch);
  send(out, message.weight.low, MessageType::swap_done);
}

void Node::sleep_recoveries(Rank from, Sends& out) {
  fragment_.set_towards_root(from);
  spread(out, from, MessageType::gosleep_rec);
  phase_ = Phase::idle;
}

}  // namespace piracema::coll::mst
