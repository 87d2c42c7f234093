#pragma once

#include <piracema/error.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/fd.h"
#include "jobs/shell/byte_reader.h"
#include "jobs/shell/byte_writer.h"
#include "jobs/shell/shell_messages.h"
#include "loop/poller.h"
#include "net/session/reception.h"
#include "net/socket/connection.h"

namespace piracema::jobs {

/// The end of a remote shell at whoever wants something run on another node (ShellHost), which
/// calls back: no node has a port for it. This process's standard streams are those of what runs
/// there. Belongs to the poller's thread.
class ShellCall {
 public:
  struct Events {
    /// It has ended there, and all that it wrote was written.
    std::function<void(const ShellEnded& ended)> ended;
    /// The way there is lost.
    std::function<void(const Error& why)> lost;
  };

  /// `address` is numeric, of this machine, and reached from that node. Once somebody calls there
  /// he has `command` run. Errc::io, Errc::config.
  static Result<std::unique_ptr<ShellCall>> open(net::Poller& poller, const std::string& address,
                                                 std::string command, Events events);
  ~ShellCall();

  /// Somebody has called.
  bool is_there() const { return line_ != nullptr; }
  /// A line: where the other end calls, and the key of the call. Secret.
  std::string invitation() const;

 private:
  ShellCall(net::Poller& poller, std::string command, Events events);
  void answered(std::shared_ptr<net::Connection> line);
  void hear(const wire::Frame& frame);
  std::unique_ptr<ByteWriter> writer(int fd, StandardStream stream);
  void on(const ShellRun&) {}
  void on(const ShellBytes& said);
  void on(const ShellTaken& taken);
  void on(const ShellEnded& ended);
  void say(const ShellMessage& message);

  net::Poller& poller_;
  const std::string token_, command_;
  const Events events_;
  std::unique_ptr<net::Reception> reception_;
  std::shared_ptr<net::Connection> line_;
  std::unique_ptr<ByteWriter> output_, errors_;
  std::unique_ptr<ByteReader> input_;
};

}  // namespace piracema::jobs
