#include "host/coordinator_search.h"

#include <algorithm>
#include <utility>

namespace piracema::cluster {

namespace {
constexpr std::chrono::milliseconds between_calls{50};
// Of one that is called while others may be there. Doubled each time that one is silent: on a busy
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

void CoordinatorSearch::begin(Time until) {
  until_ = until;
  answers_within_ = answers_within_min_;
  but_.clear();
  searches_ = true;
  dial();
}

void CoordinatorSearch::begin_again(Time until, const Error& why) {
  until_ = until;
  but_.clear();
  // It looks for others already, and from now on for all.
  if (std::exchange(searches_, true)) return;
  answers_within_ = answers_within_min_;
  try_again(why);
}

void CoordinatorSearch::look_for_others(Time until) {
  until_ = until;
  answers_within_ = answers_within_min_;
  but_ = called_;
  searches_ = true;
  dial();
}

void CoordinatorSearch::stop() {
  if (timer_) poller_.cancel(*std::exchange(timer_, std::nullopt));
  call_.reset();
  searches_ = false;
}

void CoordinatorSearch::dial() {
  std::vector<std::string> addresses = known_.find();
  if (!but_.empty()) std::erase(addresses, but_);
  if (addresses.empty()) {
    return done(Error{Errc::not_found, "its place is another job's now, or nobody's"});
  }
  of_ = addresses.size();
  const std::string& address = addresses[next_++ % of_];
  // The one that was found is remembered until another one is.
  dialled_ = address;
  call_ = std::make_unique<CoordinatorCall>(
      poller_, address, known_.token(),
      [this](Result<std::shared_ptr<net::Connection>> line) { called(std::move(line)); },
      now() < until_ ? answers_within_ : CoordinatorCall::stopped_answers_within);
}

void CoordinatorSearch::called(Result<std::shared_ptr<net::Connection>> line) {
  if (!line) {
    if (line.error().code == Errc::timeout) {
      answers_within_ = std::min(2 * answers_within_, answers_within_max);
    }
    return try_again(line.error());
  }
  called_ = dialled_;
  done(std::move(line));
}

// Of several one after the other, without a pause: where nobody listens it says so at once.
void CoordinatorSearch::try_again(const Error& why) {
  if (now() >= until_) return done(why);
  const auto pause = next_ % of_ == 0 ? between_calls : std::chrono::milliseconds(0);
  timer_ = poller_.at(now() + pause, [this] {
    timer_.reset();
    dial();
  });
}

void CoordinatorSearch::done(Result<std::shared_ptr<net::Connection>> line) {
  searches_ = false;
  on_done_(std::move(line));
}

}  // namespace piracema::cluster
