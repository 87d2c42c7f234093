#include "host/coordinator_search.h"

#include <algorithm>
#include <utility>

namespace piracema::cluster {

namespace {
constexpr std::chrono::milliseconds between_calls{50};
// The next one is called then, whether this one has answered or not.
constexpr std::chrono::milliseconds next_after{250};
// Of one that is called while others may be there. Doubled each time that it is silent: on a busy
// machine it may be ours.
constexpr std::chrono::milliseconds answers_within_max{8'000};
}  // namespace

CoordinatorSearch::CoordinatorSearch(net::Poller& poller, KnownCoordinators known, OnDone on_done,
                                     std::chrono::milliseconds answers_within)
    : poller_(poller),
      known_(std::move(known)),
      on_done_(std::move(on_done)),
      answers_within_min_(answers_within) {}

CoordinatorSearch::~CoordinatorSearch() {
  if (timer_) poller_.cancel(*timer_);
}

void CoordinatorSearch::begin(Time until) { begin_at(until, ""); }

void CoordinatorSearch::look_for_others(Time until) { begin_at(until, called_); }

void CoordinatorSearch::begin_at(Time until, std::string but) {
  until_ = until;
  but_ = std::move(but);
  searches_ = true;
  for (auto& [address, called] : calls_) called.answers_within = answers_within_min_;
  dial();
}

void CoordinatorSearch::begin_again(Time until, const Error& why) {
  until_ = until;
  but_.clear();
  // It looks for others already, and from now on for all.
  if (std::exchange(searches_, true)) return;
  for (auto& [address, called] : calls_) called.answers_within = answers_within_min_;
  try_again(why);
}

void CoordinatorSearch::stop() {
  if (timer_) poller_.cancel(*std::exchange(timer_, std::nullopt));
  calls_.clear();
  searches_ = false;
}

// The next one of those that are not called already.
void CoordinatorSearch::dial() {
  std::vector<std::string> addresses = known_.find();
  if (!but_.empty()) std::erase(addresses, but_);
  if (addresses.empty()) {
    return done(Error{Errc::not_found, "its place is another job's now, or nobody's"});
  }
  of_ = addresses.size();
  for (std::size_t tried = 0; tried < of_; ++tried) {
    const std::string& address = addresses[next_++ % of_];
    if (!calls_[address].waits) return dial(address);
  }
  dial_after(next_after);
}

void CoordinatorSearch::dial(const std::string& address) {
  Called& called = calls_[address];
  called.waits = true;
  called.answers_within = std::max(called.answers_within, answers_within_min_);
  const bool is_last = now() >= until_;
  // It may answer from within, and then there may be no `called` any more.
  auto call = std::make_unique<CoordinatorCall>(
      poller_, address, known_.token(),
      [this, address](Result<std::shared_ptr<net::Connection>> line) {
        answered(address, std::move(line));
      },
      is_last ? CoordinatorCall::stopped_answers_within : called.answers_within);
  const auto found = calls_.find(address);
  if (!searches_ || found == calls_.end() || !found->second.waits) return;
  found->second.call = std::move(call);
  if (!is_last && of_ > 1) dial_after(next_after);
}

void CoordinatorSearch::answered(const std::string& address,
                                 Result<std::shared_ptr<net::Connection>> line) {
  Called& called = calls_[address];
  called.waits = false;
  if (line) {
    called_ = address;
    return done(std::move(line));
  }
  if (line.error().code == Errc::timeout) {
    called.answers_within = std::min(2 * called.answers_within, answers_within_max);
  }
  try_again(line.error());
}

// Of several one after the other, without a pause: where nobody listens it says so at once.
void CoordinatorSearch::try_again(const Error& why) {
  if (now() < until_) return dial_after(next_ % of_ == 0 ? between_calls : Time{});
  if (!waits_for_any()) done(why);
}

void CoordinatorSearch::dial_after(Time pause) {
  if (timer_) poller_.cancel(*timer_);
  timer_ = poller_.at(now() + pause, [this] {
    timer_.reset();
    // The last ones that were called are waited for.
    if (now() < until_ || !waits_for_any()) dial();
  });
}

bool CoordinatorSearch::waits_for_any() const {
  return std::any_of(calls_.begin(), calls_.end(),
                     [](const auto& called) { return called.second.waits; });
}

void CoordinatorSearch::done(Result<std::shared_ptr<net::Connection>> line) {
  searches_ = false;
  if (timer_) poller_.cancel(*std::exchange(timer_, std::nullopt));
  // Not the one whose answer this is.
  std::erase_if(calls_, [](const auto& called) { return called.second.waits; });
  on_done_(std::move(line));
}

}  // namespace piracema::cluster
