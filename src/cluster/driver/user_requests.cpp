#include "cluster/driver/user_requests.h"

namespace piracema::cluster {

UserRequests::UserRequests(net::Poller& poller, observe::Board* board, Events events)
    : poller_(poller), board_(board), events_(std::move(events)) {
  if (board_ == nullptr) return;
  board_->when_asked_to_stop([this] { poller_.post([this] { events_.stop(); }); });
  board_->when_asked([this](UserRequest request, observe::Board::Answer answer) {
    poller_.post([this, request = std::move(request), answer = std::move(answer)]() mutable {
      take(std::move(request), std::move(answer));
    });
  });
}

void UserRequests::take(UserRequest request, observe::Board::Answer answer) {
  const std::uint64_t id = ++count_;
  if (auto why = events_.refusal(request)) return answer({.id = id, .why = *std::move(why)});
  answers_.emplace(id, std::move(answer));
  events_.asked(UserAsked{id, std::move(request)});
}

void UserRequests::answer(const AnswerRequest& answer) {
  if (auto found = answers_.extract(answer.id)) found.mapped()(answer);
}

void UserRequests::close() {
  if (board_ == nullptr) return;
  board_->when_asked_to_stop({});
  board_->when_asked({});
}

}  // namespace piracema::cluster
