#include "host/coordinator_search.h"

#include <algorithm>
#include <utility>

namespace piracema::cluster {

namespace {
constexpr std::chrono::milliseconds between_calls{50};
// Of one that is called while others may be there. Doubled each time that one is silent: on a busy
// machine it may be ours.
constexpr std::chrono::milliseconds answers_within_min{250}, answers_within_max{8'000};
}  // namespace

CoordinatorSearch::CoordinatorSearch(net::Poller& poller, Addresses addresses, std::string token,
                                     OnDone on_done)
    : poller_(poller),
      addresses_(std::move(addresses)),
      token_(std::move(token)),
      on_done_(std::move(on_done)) {}

CoordinatorSearch::~CoordinatorSearch() {
  if (timer_) poller_.cancel(*timer_);
}

void CoordinatorSearch::begin(Time until) {
  until_ = until;
  answers_within_ = answers_within_min;
  dial();
}

void CoordinatorSearch::begin_again(Time until, const Error& why) {
  until_ = until;
  answers_within_ = answers_within_min;
  try_again(why);
}

void CoordinatorSearch::dial() {
  const std::vector<std::string> addresses = addresses_();
  if (addresses.empty()) {
    return on_done_(Error{Errc::not_found, "its place is another job's now, or nobody's"});
  }
  call_ = std::make_unique<CoordinatorCall>(
      poller_, addresses[next_++ % addresses.size()], token_,
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
  on_done_(std::move(line));
}

void CoordinatorSearch::try_again(const Error& why) {
  if (now() >= until_) return on_done_(why);
  timer_ = poller_.at(now() + between_calls, [this] {
    timer_.reset();
    dial();
  });
}

}  // namespace piracema::cluster
