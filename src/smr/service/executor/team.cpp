#include "smr/service/executor/team.h"

#include <algorithm>

#include "base/ensure.h"

namespace piracema::smr {

namespace {

// About 20 us, a third of what it takes to wake a thread on another core.
constexpr int turns_before_sleep = 40;

unsigned cores() { return std::max(1u, std::thread::hardware_concurrency()); }

}  // namespace

Team::Team(unsigned size) : turns_(size <= cores() ? turns_before_sleep : 0) {
  ENSURE(size >= 1);
  for (unsigned number = 1; number < size; ++number) {
    Helper& helper = *helpers_.emplace_back(std::make_unique<Helper>());
    helper.thread = std::thread([this, &helper, number] { help(helper, number); });
  }
}

unsigned Team::at_once() const { return std::min(size(), cores()); }

Team::~Team() {
  for (auto& helper : helpers_) {
    helper->state = State::leaving;
    helper->called.ring_all();
  }
  for (auto& helper : helpers_) helper->thread.join();
}

void Team::run(unsigned count, bool everybody, const std::function<void(unsigned)>& job) {
  ENSURE(count >= 1 && count <= size());
  job_ = &job;
  for (unsigned i = 0; i + 1 < count; ++i) {
    helpers_[i]->state = State::called;
    helpers_[i]->called.ring_all();
  }
  job(0);
  for (unsigned i = 0; i + 1 < count; ++i) {
    Helper& helper = *helpers_[i];
    State expected = State::called;
    if (!everybody && helper.state.compare_exchange_strong(expected, State::idle)) continue;
    idle_.wait(turns_at_work(), [&helper] { return helper.state == State::idle; });
  }
}

void Team::help(Helper& helper, unsigned number) {
  for (;;) {
    helper.called.wait(turns_, [&helper] { return helper.state != State::idle; });
    State expected = State::called;
    if (!helper.state.compare_exchange_strong(expected, State::busy)) {
      if (expected == State::leaving) return;
      continue;  // Sent away meanwhile.
    }
    (*job_)(number);
    helper.state = State::idle;
    idle_.ring_all();
  }
}

}  // namespace piracema::smr
