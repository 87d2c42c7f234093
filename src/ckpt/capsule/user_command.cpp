#include "ckpt/capsule/user_command.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "ckpt/capsule/criu_run.h"
#include "ckpt/image/last_line.h"

namespace piracema::ckpt {

Result<Done> UserCommand::begin(const Order& order, pid_t job) {
  kill();
  order_ = order;
  is_late_ = false;
  ::unlink(order.output.c_str());
  auto pid = start_command(order, job);
  if (!pid) return pid.error();
  pid_ = *pid;
  until_ = now() + std::chrono::milliseconds(order.within_ms);
  return Done{};
}

int UserCommand::left_ms(Time now) const {
  if (pid_ == 0 || is_late_) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until_ - now);
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

void UserCommand::look(Time now) {
  if (pid_ == 0 || is_late_ || now < until_) return;
  is_late_ = true;
  kill();
}

// It leads a session of its own.
void UserCommand::kill() {
  if (pid_ != 0) ::kill(-pid_, SIGKILL);
}

std::string UserCommand::ended(int wait_status) {
  // What it has left behind is not the job's, and would be in the way of its image.
  kill();
  pid_ = 0;
  if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0) return {};
  const std::string name = concat("'", order_.command.back(), "'");
  const std::string said = last_line_of(order_.output);
  const std::string how =
      is_late_ ? concat(" had not ended after ", human_seconds(order_.within_ms / 1e3),
                        ", and was killed")
      : WIFSIGNALED(wait_status) ? concat(" was ended by signal ", WTERMSIG(wait_status))
                                 : concat(" has ended with status ", WEXITSTATUS(wait_status));
  return concat(name, how, said.empty() ? "" : ": ", said);
}

}  // namespace piracema::ckpt
