#include "sim/jobs/group.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>

#include "jobs/protocol/testing.h"
#include "jobs/state/placement.h"

namespace piracema::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

Answer Group::execute(const Operation& operation) {
  const std::uint64_t client = jobs::testing::honest_client(operation);
  if (scheduler_.random().below(20) == 0) steal(operation, client);
  const Answer answer = apply(operation, client);
  look();
  return answer;
}

void Group::hold(const Operation& question, std::function<void(const Answer&)> answered) {
  held_.push_back({encode(question), std::move(answered)});
  look();
}

void Group::replace_other() {
  other_ = std::make_unique<ClusterState>();
  REQUIRE(other_->restore(smr::bytes_of(state_.snapshot())));
}

Answer Group::apply(const Operation& operation, std::uint64_t client) {
  const smr::Context context{.time = time(), .client = client};
  const Buffer bytes = encode(operation);
  const auto changes = state_.changes();
  const Buffer reply = state_.apply(bytes, context), other = other_->apply(bytes, context);
  REQUIRE(as_text(reply) == as_text(other));
  nothing_comes_to_full_nodes();
  if (state_.changes() == changes && ++quiet_ % 16 == 0) {
    all_is_placed();
    REQUIRE_FALSE(any_news());
  }
  auto answer = decode_answer(reply);
  REQUIRE(answer.ok());
  return *answer;
}

// Another node says the same.
void Group::steal(const Operation& operation, std::uint64_t client) {
  const auto* const join = std::get_if<Join>(&operation);
  if (join != nullptr && !state_.nodes().contains(join->node)) return;  // It would be its name.
  const auto answer = apply(operation, client + 1);
  CHECK(answer.verdict != Answer::Verdict::done);
}

std::uint64_t Group::time() {
  const Time wanted = scheduler_.now() + ahead_ + seconds(1'000'000);
  last_ = std::max(last_, static_cast<std::uint64_t>(wanted.count()));
  return last_;
}

void Group::tick() {
  if (answers && state_.next_deadline() && *state_.next_deadline() <= time()) {
    const smr::Context context{.time = time()};
    state_.on_time(context);
    other_->on_time(context);
    nothing_comes_to_full_nodes();
    look();
  }
  scheduler_.after(milliseconds(50), [this] { tick(); });
}

// From when it is known to be full until it is known to have room: neither a command, nor one that
// joins its job, nor another node of a job.
void Group::nothing_comes_to_full_nodes() {
  std::set<std::string> full;
  std::set<There> there;
  for (const auto& [name, node] : state_.nodes()) {
    if (!node.full) continue;
    full.insert(name);
    for (const auto& [id, job] : state_.jobs()) {
      if (job.state == JobState::waiting || is_over(job.state) || !has_node(job, name)) continue;
      const There one{name, id, job.attempt, job.node == name};
      REQUIRE((!full_.contains(name) || there_.contains(one)));
      there.insert(one);
    }
  }
  full_ = std::move(full);
  there_ = std::move(there);
}

// What a node says changes nothing as a rule, and then nobody looks for places. There are none.
void Group::all_is_placed() const {
  auto jobs = state_.jobs();
  REQUIRE(place(jobs, state_.nodes()).empty());
  const bool same = std::equal(jobs.begin(), jobs.end(), state_.jobs().begin(),
                               [](auto& a, auto& b) { return a.second.why == b.second.why; });
  REQUIRE(same);
}

// Of a replica that is asked again only where there may be some.
bool Group::any_news() const {
  return std::any_of(held_.begin(), held_.end(), [this](const auto& held) {
    return state_.has_news(state_.query(held.first));
  });
}

void Group::look() {
  std::erase_if(held_, [this](const auto& held) {
    const Buffer reply = state_.query(held.first);
    if (!state_.has_news(reply)) return false;
    const auto answer = decode_answer(reply);
    REQUIRE(answer.ok());
    held.second(*answer);
    return true;
  });
}

}  // namespace piracema::sim
