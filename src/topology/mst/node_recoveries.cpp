// The second half of a round: recoveries, and how all learn that there are no more. The root asks
// (not_rec) for the lightest edge that wants to go in; its lower end is the root from then on
// (go_on). That one spreads the edge over the tree (recover); the answers tell where the other end
// is, and the heaviest edge on the way. A root without edges of its own asks again; when nobody has
// one, all go to sleep. At any time one node decides, so no two swaps can meet.
#include <algorithm>
#include <limits>

#include "topology/mst/node.h"

namespace piracema::coll::mst {

namespace {
const Weight lightest{-std::numeric_limits<double>::infinity(), 0, 0};
}  // namespace

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
