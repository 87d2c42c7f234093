#include "ckpt/keeper/copy_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/retry.h"
#include "base/text.h"
#include "ckpt/image/last_line.h"

namespace piracema::ckpt {

namespace {

// A store that is full or gone is asked again, less and less often.
constexpr Time copy_pause_least = std::chrono::seconds(1);
constexpr Time copy_pause_most = std::chrono::minutes(2);

constexpr int copier_ends_ms = 200;

}  // namespace

Result<Done> CopyProcess::begin(const std::vector<std::string>& words, Ended ended) {
  ::unlink(output_.c_str());
  OwnProgram program{
      .words = words, .working_directory = "/", .output = output_, .errors = output_};
  // For a remote shell.
  for (char** one = environ; *one != nullptr; ++one) program.environment.emplace_back(*one);
  auto process = start_own_process(program);
  if (!process) return process.error();
  process_ = *std::move(process);
  on_ended_ = std::move(ended);
  poller_.watch(process_->handle.get(), EPOLLIN, [this](std::uint32_t) { this->ended(); });
  return Done{};
}

void CopyProcess::ended() {
  poller_.forget(process_->handle.get());
  const OwnProcess process = *std::exchange(process_, std::nullopt);
  int status = 0;
  (void)retry([&] { return ::waitpid(process.pid, &status, 0); });
  const auto on_ended = std::exchange(on_ended_, {});
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return on_ended(Done{});
  const std::string why = last_line_of(output_);
  on_ended(Error{Errc::failed, why.empty() ? "its copying was ended" : why});
}

void CopyProcess::hold(bool still) {
  if (process_) ::kill(process_->pid, still ? SIGSTOP : SIGCONT);
}

bool CopyProcess::failed(const std::string& why) {
  wait_ = std::clamp(2 * wait_, copy_pause_least, copy_pause_most);
  pause_ = poller_.at(now() + wait_, [this] {
    pause_.reset();
    again_();
  });
  return std::exchange(said_, why) != why;
}

void CopyProcess::succeeded() {
  wait_ = {};
  said_.clear();
}

bool CopyProcess::kill() {
  if (!process_) return true;
  poller_.forget(process_->handle.get());
  ::kill(process_->pid, SIGKILL);
  pollfd end{process_->handle.get(), POLLIN, 0};
  const bool has_ended = retry([&] { return ::poll(&end, 1, copier_ends_ms); }) > 0;
  if (has_ended) (void)::waitpid(process_->pid, nullptr, 0);
  process_.reset();
  on_ended_ = {};
  return has_ended;
}

void CopyProcess::stop() {
  if (pause_) poller_.cancel(*pause_);
  pause_.reset();
  (void)kill();
}

}  // namespace piracema::ckpt
