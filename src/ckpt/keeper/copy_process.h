#pragma once

#include <piracema/error.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "loop/poller.h"
#include "os/own_process.h"

namespace piracema::ckpt {

/// A process of ours that copies an image, one at a time; it ends with this one. After one that has
/// failed there is a pause, longer each time. Belongs to the poller's thread.
class CopyProcess {
 public:
  using Ended = std::function<void(Result<Done>)>;
  /// `output` is the file for what it writes, whose last line says what went wrong. `again` is
  /// called when a pause is over.
  CopyProcess(net::Poller& poller, std::string output, std::function<void()> again)
      : poller_(poller), output_(std::move(output)), again_(std::move(again)) {}
  ~CopyProcess() { stop(); }

  bool is_under_way() const { return process_.has_value(); }
  /// Neither is one under way nor is there a pause.
  bool may_begin() const { return !process_ && !pause_; }
  /// `words[0]` is a file. Errc::io.
  Result<Done> begin(const std::vector<std::string>& words, Ended ended);
  /// It stands still, or goes on.
  void hold(bool still);

  /// What it was begun for has failed, by itself or by what followed: a pause begins. Whether that
  /// is news: it has not failed so before.
  bool failed(const std::string& why);
  void succeeded();

  /// The one under way is killed, and nothing is heard of it. False if it has not ended soon, as a
  /// disk that answers nobody holds it: it ends by itself then.
  bool kill();
  /// That, and no pause any more.
  void stop();

 private:
  void ended();

  net::Poller& poller_;
  const std::string output_;
  const std::function<void()> again_;
  std::optional<OwnProcess> process_;
  Ended on_ended_;
  std::optional<net::Poller::Timer> pause_;
  Time wait_{};
  std::string said_;
};

}  // namespace piracema::ckpt
