#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "control/coordinator_actions.h"
#include "control/user_request.h"
#include "observe/status/job_status.h"

namespace piracema::observe {

/// Where the thread that drives a job puts what is known of it, and others read it and ask for its
/// end. Safe from any thread; nobody waits for anybody longer than it takes to copy a pointer.
class Board {
 public:
  /// A job that has not begun.
  explicit Board(JobFacts facts) {
    auto first = std::make_shared<JobStatus>();
    first->facts = std::move(facts);
    first->now = first->facts.started_at;
    first->phase = "gathering";
    latest_ = std::move(first);
  }

  void publish(std::shared_ptr<const JobStatus> status, Time now) {
    std::lock_guard lock(mutex_);
    latest_ = std::move(status);
    published_at_ = now;
  }
  std::shared_ptr<const JobStatus> latest() const {
    std::lock_guard lock(mutex_);
    return latest_;
  }
  /// Of the last `publish`, by the machine's clock; 0 before the first one.
  Time published_at() const {
    std::lock_guard lock(mutex_);
    return published_at_;
  }

  /// Who is called, from any thread, when somebody asks for the job's end; nothing: nobody, and no
  /// call is under way any more when this returns.
  void when_asked_to_stop(std::function<void()> callback) {
    std::lock_guard lock(stop_mutex_);
    stop_ = std::move(callback);
  }
  /// False: there is no job that could be stopped.
  bool ask_to_stop() {
    std::lock_guard lock(stop_mutex_);
    if (stop_) stop_();
    return stop_ != nullptr;
  }

  /// Who is called when a user wants something of the job that goes on, and calls back, from any
  /// thread, once. As `when_asked_to_stop`.
  using Answer = std::function<void(cluster::AnswerRequest)>;
  void when_asked(std::function<void(cluster::UserRequest, Answer)> callback) {
    std::lock_guard lock(stop_mutex_);
    asked_ = std::move(callback);
  }
  /// Waits so long for an answer; nothing: there is no job, it does not answer, or it has ended
  /// without an answer.
  std::optional<cluster::AnswerRequest> ask(cluster::UserRequest request,
                                            std::chrono::milliseconds wait) {
    auto asked = std::make_shared<Asked>();
    auto answer = asked->answer.get_future();
    {
      std::lock_guard lock(stop_mutex_);
      if (!asked_) return std::nullopt;
      asked_(std::move(request), [asked = std::move(asked)](cluster::AnswerRequest one) {
        asked->give(std::move(one));
      });
    }
    if (answer.wait_for(wait) != std::future_status::ready) return std::nullopt;
    return answer.get();
  }

 private:
  /// Answered once, by whoever has it last when by nobody else.
  struct Asked {
    ~Asked() { give(std::nullopt); }
    void give(std::optional<cluster::AnswerRequest> one) {
      if (!std::exchange(is_answered, true)) answer.set_value(std::move(one));
    }
    std::promise<std::optional<cluster::AnswerRequest>> answer;
    bool is_answered = false;
  };

  mutable std::mutex mutex_;
  std::shared_ptr<const JobStatus> latest_;
  Time published_at_{};
  std::mutex stop_mutex_;
  std::function<void()> stop_;
  std::function<void(cluster::UserRequest, Answer)> asked_;
};

}  // namespace piracema::observe
