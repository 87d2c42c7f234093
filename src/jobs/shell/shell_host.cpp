#include "jobs/shell/shell_host.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <sstream>
#include <utility>

#include "base/text.h"
#include "net/session/handshake.h"
#include "os/pipe.h"
#include "wire/messages.h"

namespace piracema::jobs {

namespace {

constexpr std::chrono::seconds calls_within{10};
// What it has started in the background may keep its streams open for ever.
constexpr std::chrono::seconds streams_end_within{1};
// For the other end to have read the last word.
constexpr std::chrono::seconds hangs_up_within{5};

// A shell between would take a signal for its own, and end before the program has.
std::string without_shell_between(const std::string& command) {
  const bool is_program =
      command.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-") == command.npos;
  return is_program ? "exec " + command : command;
}

}  // namespace

Result<std::unique_ptr<ShellHost>> ShellHost::open(const std::string& invitation) {
  std::istringstream in(invitation);
  std::string address, token;
  if (!(in >> address >> token) || !net::is_token(token)) {
    return Error{Errc::config, "want to be started by `piracema cluster rsh`, found no invitation"};
  }
  std::unique_ptr<ShellHost> host(new ShellHost(token));
  ShellHost* const self = host.get();
  auto signals =
      ckpt::SignalWatch::open(self->poller_, {SIGTERM, SIGINT, SIGHUP}, [self](int number) {
        if (self->process_) self->process_->signal(number);
      });
  if (!signals) return signals.error();
  host->signals_ = *std::move(signals);
  host->call_ = std::make_unique<net::Call>(
      self->poller_, token, net::Greeting{}, net::Call::Whom{.address = address},
      net::SharedMemory::never, net::Sealed::between_hosts, nullptr, now() + calls_within,
      [self](Result<std::shared_ptr<net::Connection>> line) { self->called(std::move(line)); });
  return host;
}

ShellHost::ShellHost(const std::string& token) : token_(token) {}

ShellHost::~ShellHost() {
  output_.reader.reset();
  errors_.reader.reset();
  input_.reset();
  if (process_) poller_.forget(process_->handle());
  if (line_) line_->close();
}

Result<int> ShellHost::run() {
  while (!over_) poller_.run_once(std::chrono::milliseconds(-1));
  if (failure_) return *failure_;
  return static_cast<int>(ended_->code);
}

void ShellHost::called(Result<std::shared_ptr<net::Connection>> line) {
  if (!line) {
    failure_ = Error{Errc::lost, concat("the other end of this shell: ", line.error().message)};
    over_ = true;
    return;
  }
  line_ = *std::move(line);
  line_->trust({.received = [this](const wire::Frame& frame) { hear(frame); },
                .lost = [this](const Error& why) { lost(why); }});
}

void ShellHost::hear(const wire::Frame& frame) {
  auto message = wire::message_from_frame<ShellMessage>(frame, "message of a remote shell");
  if (!message) return lost(message.error());
  std::visit([this](const auto& what) { on(what); }, *message);
}

void ShellHost::on(const ShellRun& run) {
  if (process_ || ended_) return;
  if (auto started = start(run.command); !started) {
    ended_ = ShellEnded{127, started.error().message};
    tell_end();
  }
}

Result<Done> ShellHost::start(const std::string& command) {
  auto input = open_pipe("a pipe to a shell"), output = open_pipe("a pipe to a shell"),
       errors = open_pipe("a pipe to a shell");
  for (const auto* pipe : {&input, &output, &errors}) {
    if (!*pipe) return pipe->error();
  }
  auto shell = cluster::find_program("sh");
  if (!shell) return shell.error();
  // It has this process's standard error, which is the job's log: what it says goes to the other
  // end.
  const Fd log(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0));
  ::dup2(errors->write.get(), STDERR_FILENO);
  auto process = cluster::Process::start({.command = {*shell, "-c", without_shell_between(command)},
                                          .input = input->read.get(),
                                          .output = output->write.get()});
  ::dup2(log.get(), STDERR_FILENO);
  if (!process) return process.error();
  process_ = *std::move(process);
  input_ = std::make_unique<ByteWriter>(
      std::move(input->write),
      ByteWriter::Events{.wrote =
                             [this](auto bytes) {
                               say(ShellTaken{StandardStream::input, bytes});
                             },
                         .unread =
                             [this] {
                               say(ShellBytes{StandardStream::input, ""});
                             }});
  begin_to_read(StandardStream::output, std::move(output->read));
  begin_to_read(StandardStream::errors, std::move(errors->read));
  poller_.watch(process_->handle(), EPOLLIN, [this](std::uint32_t) { reap(); });
  return Done{};
}

void ShellHost::begin_to_read(StandardStream stream, Fd fd) {
  Said& said = said_on(stream);
  said.fd = std::move(fd);
  said.reader = std::make_unique<ByteReader>(
      said.fd.get(), [this, stream](std::string bytes) { read(stream, std::move(bytes)); });
}

// On a reader's thread.
void ShellHost::read(StandardStream stream, std::string bytes) {
  if (bytes.empty()) return poller_.post([this, stream] { over(stream); });
  const std::size_t count = bytes.size();
  if (!alone_) return say(ShellBytes{stream, std::move(bytes)});
  (void)!::write(STDERR_FILENO, bytes.data(), bytes.size());
  poller_.post([this, stream, count] { on(ShellTaken{stream, count}); });
}

// It has come to its end; or nobody reads it any more, which whoever writes it hears by a signal.
void ShellHost::over(StandardStream stream) {
  said_on(stream).reader.reset();
  said_on(stream).fd.close();
  if (ended_ && all_is_said()) tell_end();
}

void ShellHost::on(const ShellBytes& given) {
  if (given.stream != StandardStream::input) return over(given.stream);
  if (!input_) return;
  if (given.bytes.empty()) {
    input_->end();
  } else {
    input_->write(given.bytes);
  }
}

void ShellHost::on(const ShellTaken& taken) {
  if (const auto& reader = said_on(taken.stream).reader) reader->taken(taken.bytes);
}

void ShellHost::lost(const Error& why) {
  line_->close();
  alone_ = true;
  if (!process_ && !ended_) {
    failure_ = Error{Errc::lost, concat("the other end of this shell: ", why.message)};
  }
  if (!process_ || is_told_) {
    over_ = true;
    return;
  }
  input_->end();
  // What they hold back goes to the log with all that follows.
  for (const Said* said : {&output_, &errors_}) {
    if (said->reader) said->reader->taken(ByteReader::ahead_max);
  }
}

void ShellHost::reap() {
  const int handle = process_->handle();
  const auto exit = process_->reap();
  if (!exit) return;
  poller_.forget(handle);
  ended_ = ShellEnded{static_cast<std::uint32_t>(exit->code), exit->how};
  if (all_is_said() || alone_) return tell_end();
  poller_.at(now() + streams_end_within, [this] { tell_end(); });
}

void ShellHost::tell_end() {
  if (std::exchange(is_told_, true)) return;
  output_.reader.reset();
  errors_.reader.reset();
  input_.reset();
  if (alone_) {
    over_ = true;
    return;
  }
  say(*ended_);
  poller_.at(now() + hangs_up_within, [this] { over_ = true; });
}

// Any thread; the line is there before another one is.
void ShellHost::say(const ShellMessage& message) { line_->send(wire::message_to_frame(message)); }

}  // namespace piracema::jobs
