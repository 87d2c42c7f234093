// The first half of a round: failures, and how all learn that there are no more. The paper leaves
// open who the root is while fragments merge, and what happens when several nodes suspect the end:
// here only roots ask. That of the old tree asks with tag 1 in case that nothing has failed;
// whoever has a failure does not answer, but tells the root. When the fragments have merged, the
// larger end of the last core is the root of the whole tree, and asks with tag 2.
#include <algorithm>

#include "topology/mst/node.h"

namespace piracema::coll::mst {

namespace {
constexpr std::uint32_t tag_nothing_failed = 1;
constexpr std::uint32_t tag_merged = 2;
}  // namespace

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

}  // namespace piracema::coll::mst
