#include "topology/mst/fragment.h"

namespace piracema::coll::mst {

void Fragment::begin(Rank me, std::uint32_t round, Rank parent) {
  *this = Fragment();
  me_ = me;
  round_ = round;
  towards_root_ = parent;
}

void Fragment::look(Edges& edges, Sends& out) {
  ENSURE(state_ == State::reiden && towards_root_ == no_rank);
  level_ = 0;
  // No edge joins a node with itself, so this names no other fragment.
  name_ = {0, me_, me_};
  if (!edges.branches().empty()) {
    state_ = State::find;
    spread(no_rank, edges, out);
    return;
  }
  // GHS, response to waking up.
  state_ = State::found;
  const Rank to = edges.lightest_basic();
  if (to == no_rank) {
    complete_ = true;
    return;
  }
  edges.mark(to, EdgeState::branch);
  send(out, to, MessageType::connect, 0);
}

bool Fragment::on(Rank from, const Message& message, Edges& edges, Sends& out) {
  switch (message.type) {
    case MessageType::connect:
      return on_connect(from, message, edges, out);
    case MessageType::initiate:
      on_initiate(from, message, edges, out);
      return true;
    case MessageType::test:
      return on_test(from, message, edges, out);
    case MessageType::accept:
      testing_ = no_rank;
      if (edges.weight(from) < best_weight_) {
        best_weight_ = edges.weight(from);
        best_ = from;
      }
      report(edges, out);
      return true;
    case MessageType::reject:
      if (edges.state(from) == EdgeState::basic) edges.mark(from, EdgeState::rejected);
      test(edges, out);
      return true;
    case MessageType::report:
      return on_report(from, message, edges, out);
    case MessageType::change_root:
      change_root(edges, out);
      return true;
    default:
      ENSURE(!"a message of the fragment");
      return true;
  }
}

bool Fragment::on_connect(Rank from, const Message& message, Edges& edges, Sends& out) {
  const auto level = static_cast<std::int32_t>(message.number);
  if (level < level_) {
    // The smaller fragment becomes part of this one.
    edges.mark(from, EdgeState::branch);
    send(out, from, MessageType::initiate, level_, name_, state_ == State::find);
    if (state_ == State::find) reports_missing_ += 1;
    return true;
  }
  if (edges.state(from) == EdgeState::basic) return false;
  // Both have chosen this edge: it is the core of a new fragment, and names it.
  send(out, from, MessageType::initiate, level_ + 1, edges.weight(from), true);
  return true;
}

void Fragment::on_initiate(Rank from, const Message& message, Edges& edges, Sends& out) {
  level_ = static_cast<std::int32_t>(message.number);
  name_ = message.weight;
  state_ = message.flag ? State::find : State::found;
  towards_root_ = from;
  spread(from, edges, out);
}

void Fragment::spread(Rank from, Edges& edges, Sends& out) {
  best_ = no_rank;
  best_weight_ = {};
  const bool find = state_ == State::find;
  for (const Rank to : edges.branches(from)) {
    send(out, to, MessageType::initiate, level_, name_, find);
    if (find) reports_missing_ += 1;
  }
  if (!find) return;
  test(edges, out);
}

bool Fragment::on_test(Rank from, const Message& message, Edges& edges, Sends& out) {
  if (static_cast<std::int32_t>(message.number) > level_) return false;
  if (message.weight != name_) {
    send(out, from, MessageType::accept);
    return true;
  }
  if (edges.state(from) == EdgeState::basic) edges.mark(from, EdgeState::rejected);
  if (testing_ != from) {
    send(out, from, MessageType::reject);
  } else {
    test(edges, out);
  }
  return true;
}

void Fragment::test(Edges& edges, Sends& out) {
  testing_ = edges.lightest_basic();
  if (testing_ != no_rank) {
    send(out, testing_, MessageType::test, level_, name_);
  } else {
    report(edges, out);
  }
}

void Fragment::report(Edges& edges, Sends& out) {
  if (reports_missing_ > 0 || testing_ != no_rank) return;
  state_ = State::found;
  if (towards_root_ != no_rank) {
    send(out, towards_root_, MessageType::report, 0, best_weight_);
  } else if (best_weight_.is_none()) {
    complete_ = true;
  } else {
    change_root(edges, out);
  }
}

bool Fragment::on_report(Rank from, const Message& message, Edges& edges, Sends& out) {
  if (from != towards_root_) {
    ENSURE(reports_missing_ > 0);
    reports_missing_ -= 1;
    if (message.weight < best_weight_) {
      best_weight_ = message.weight;
      best_ = from;
    }
    report(edges, out);
    return true;
  }
  // From the other end of the core: whoever has the lighter edge goes for it.
  if (state_ == State::find) return false;
  if (best_weight_ < message.weight) {
    change_root(edges, out);
  } else if (message.weight.is_none() && best_weight_.is_none()) {
    complete_ = true;
  }
  return true;
}

void Fragment::change_root(Edges& edges, Sends& out) {
  if (edges.is_branch(best_)) {
    send(out, best_, MessageType::change_root);
  } else {
    send(out, best_, MessageType::connect, level_);
    edges.mark(best_, EdgeState::branch);
  }
}

void Fragment::send(Sends& out, Rank to, MessageType type, std::int32_t level, Weight weight,
                    bool flag) const {
  out.push_back({to,
                 {.type = type,
                  .flag = flag,
                  .round = round_,
                  .number = static_cast<std::uint32_t>(level),
                  .weight = weight}});
}

}  // namespace piracema::coll::mst
