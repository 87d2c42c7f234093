#include "council/page_relay.h"

#include <chrono>
#include <iterator>
#include <utility>

#include "cluster/driver/page_desk.h"
#include "observe/http/web_site.h"

namespace piracema::council {

namespace {

using std::chrono::seconds;

// Another one leads by then, if one can.
constexpr seconds somebody_within{2};
// Longer than whoever leads takes to say that it has no answer.
constexpr seconds answer_within{6};

observe::Response unavailable(const char* why) { return observe::WebSite::text(503, why); }

}  // namespace

observe::Response PageRelay::get(const observe::Request& request, Time) {
  return ask(request, true);
}

observe::Response PageRelay::post(const observe::Request& request) { return ask(request, false); }

observe::Response PageRelay::ask(const observe::Request& request, bool may_be_asked_again) {
  std::unique_lock lock(mutex_);
  if (over_) return unavailable("the job is over\n");
  const std::uint64_t id = ++asked_;
  Question& question = questions_[id];
  question.asked = cluster::to_message(id, request);
  question.may_be_asked_again = may_be_asked_again;
  auto answer = question.answer.get_future();
  if (poller_ != nullptr) poller_->post([this] { send_all(); });
  lock.unlock();

  bool is_there = answer.wait_for(somebody_within) == std::future_status::ready;
  lock.lock();
  const auto waits = questions_.find(id);
  if (!is_there && waits != questions_.end() && waits->second.is_on_its_way) {
    lock.unlock();
    is_there = answer.wait_for(answer_within - somebody_within) == std::future_status::ready;
    lock.lock();
  }
  // Answered meanwhile, or never.
  if (questions_.erase(id) == 0) is_there = true;
  lock.unlock();
  return is_there ? answer.get() : unavailable("no coordinator that leads has answered\n");
}

void PageRelay::begin(net::Poller& poller, LeaderLine& line) {
  {
    const std::lock_guard lock(mutex_);
    poller_ = &poller;
    line_ = &line;
  }
  send_all();
}

void PageRelay::end() {
  const std::lock_guard lock(mutex_);
  poller_ = nullptr;
  line_ = nullptr;
  over_ = true;
  for (auto& [id, question] : questions_) {
    question.answer.set_value(unavailable("the job is over\n"));
  }
  questions_.clear();
}

void PageRelay::came() {
  {
    const std::lock_guard lock(mutex_);
    if (line_ != nullptr && past_) line_->tell(*past_);
  }
  send_all();
}

void PageRelay::told(cluster::PastOfJob past) {
  const std::lock_guard lock(mutex_);
  past_ = std::move(past);
}

void PageRelay::send_all() {
  const std::lock_guard lock(mutex_);
  if (line_ == nullptr) return;
  for (auto& [id, question] : questions_) {
    if (!question.is_on_its_way) question.is_on_its_way = line_->ask(question.asked);
  }
}

void PageRelay::left() {
  const std::lock_guard lock(mutex_);
  for (auto at = questions_.begin(); at != questions_.end();) {
    Question& question = at->second;
    const bool is_lost =
        std::exchange(question.is_on_its_way, false) && !question.may_be_asked_again;
    if (is_lost) {
      question.answer.set_value(unavailable(
          "the coordinator that was asked is lost; see in /api/v1/job whether it was done\n"));
    }
    at = is_lost ? questions_.erase(at) : std::next(at);
  }
}

void PageRelay::answered(cluster::PageAnswered answer) {
  const std::lock_guard lock(mutex_);
  const auto found = questions_.find(answer.id);
  if (found == questions_.end()) return;
  found->second.answer.set_value(cluster::from_message(std::move(answer)));
  questions_.erase(found);
}

}  // namespace piracema::council
