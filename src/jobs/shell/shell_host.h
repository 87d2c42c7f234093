#pragma once

#include <piracema/error.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "base/fd.h"
#include "jobs/shell/byte_reader.h"
#include "jobs/shell/byte_writer.h"
#include "jobs/shell/shell_messages.h"
#include "loop/poller.h"
#include "net/session/call.h"
#include "net/socket/connection.h"
#include "os/process.h"
#include "os/signal_watch.h"

namespace piracema::jobs {

/// The end of a remote shell on the node where it runs: calls back (ShellCall), and has a shell run
/// what it is told, whose standard streams are at the other end. When the way there is lost that
/// shell reads the end of its input, what it writes goes to this process's standard error, which is
/// the job's log on this node, and it is waited for all the same: it may be one that goes on alone.
/// What was on its way then is lost. Signals to this process are handed on to it. Belongs to one
/// thread, which is that of the process.
class ShellHost {
 public:
  /// `invitation` is ShellCall's. Errc::config for one that is none, Errc::io.
  static Result<std::unique_ptr<ShellHost>> open(const std::string& invitation);
  ~ShellHost();

  /// Until what runs has ended: its exit code as a shell has it. Errc::lost if nobody is at the
  /// other end who would say what to run.
  Result<int> run();

 private:
  explicit ShellHost(const std::string& token);
  void called(Result<std::shared_ptr<net::Connection>> line);
  void hear(const wire::Frame& frame);
  void on(const ShellRun& run);
  void on(const ShellBytes& given);
  void on(const ShellTaken& taken);
  void on(const ShellEnded&) {}
  Result<Done> start(const std::string& command);
  struct Said {
    Fd fd;
    std::unique_ptr<ByteReader> reader;
  };
  void begin_to_read(StandardStream stream, Fd fd);
  void read(StandardStream stream, std::string bytes);
  void over(StandardStream stream);
  bool all_is_said() const { return !output_.reader && !errors_.reader; }
  Said& said_on(StandardStream stream) {
    return stream == StandardStream::output ? output_ : errors_;
  }
  void lost(const Error& why);
  void reap();
  void tell_end();
  void say(const ShellMessage& message);

  const std::string token_;
  net::Poller poller_;
  std::unique_ptr<ckpt::SignalWatch> signals_;
  std::unique_ptr<net::Call> call_;
  std::shared_ptr<net::Connection> line_;
  /// Nobody is there any more; of all threads.
  std::atomic<bool> alone_ = false;
  std::optional<cluster::Process> process_;
  std::unique_ptr<ByteWriter> input_;
  Said output_, errors_;
  std::optional<ShellEnded> ended_;
  bool is_told_ = false, over_ = false;
  std::optional<Error> failure_;
};

}  // namespace piracema::jobs
