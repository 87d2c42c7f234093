#include "jobs/shell/shell_call.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "base/text.h"
#include "net/session/handshake.h"
#include "wire/messages.h"

namespace piracema::jobs {

namespace {
constexpr std::chrono::milliseconds greets_within{5'000};
Fd copy_of(int fd) { return Fd(::fcntl(fd, F_DUPFD_CLOEXEC, 0)); }
}  // namespace

Result<std::unique_ptr<ShellCall>> ShellCall::open(net::Poller& poller, const std::string& address,
                                                   std::string command, Events events) {
  std::unique_ptr<ShellCall> call(new ShellCall(poller, std::move(command), std::move(events)));
  ShellCall* const self = call.get();
  const auto check = [self](const net::Greeting&) -> Result<Done> {
    if (self->line_ == nullptr) return Done{};
    return Error{Errc::refused, "the other end of this shell is there already"};
  };
  auto reception = net::Reception::open(
      poller, address, 0, call->token_, net::Sealed::between_hosts, greets_within,
      {.check = check,
       .answer = [](const net::Greeting&, net::Connection&) -> Result<net::Reception::Answer> {
         return net::Reception::Answer{};
       },
       .greeted = [self](
                      const net::Greeting&,
                      std::shared_ptr<net::Connection> line) { self->answered(std::move(line)); }});
  if (!reception) return reception.error();
  call->reception_ = *std::move(reception);
  return call;
}

ShellCall::ShellCall(net::Poller& poller, std::string command, Events events)
    : poller_(poller),
      token_(net::draw_token()),
      command_(std::move(command)),
      events_(std::move(events)) {}

ShellCall::~ShellCall() {
  input_.reset();
  if (line_) line_->close();
}

std::string ShellCall::invitation() const {
  return concat(reception_->address(), " ", token_, "\n");
}

void ShellCall::answered(std::shared_ptr<net::Connection> line) {
  line_ = std::move(line);
  line_->trust({.received = [this](const wire::Frame& frame) { hear(frame); },
                .lost = [this](const Error& why) { events_.lost(why); }});
  output_ = writer(STDOUT_FILENO, StandardStream::output);
  errors_ = writer(STDERR_FILENO, StandardStream::errors);
  say(ShellRun{command_});
  input_ = std::make_unique<ByteReader>(STDIN_FILENO, [this](std::string bytes) {
    say(ShellBytes{StandardStream::input, std::move(bytes)});
  });
}

void ShellCall::hear(const wire::Frame& frame) {
  auto message = wire::message_from_frame<ShellMessage>(frame, "message of a remote shell");
  if (!message) return events_.lost(message.error());
  std::visit([this](const auto& what) { on(what); }, *message);
}

std::unique_ptr<ByteWriter> ShellCall::writer(int fd, StandardStream stream) {
  return std::make_unique<ByteWriter>(copy_of(fd),
                                      ByteWriter::Events{.wrote =
                                                             [this, stream](auto bytes) {
                                                               say(ShellTaken{stream, bytes});
                                                             },
                                                         .unread =
                                                             [this, stream] {
                                                               say(ShellBytes{stream, ""});
                                                             }});
}

void ShellCall::on(const ShellBytes& said) {
  if (said.stream == StandardStream::input) return input_.reset();
  const auto& writer = said.stream == StandardStream::output ? output_ : errors_;
  writer->write(said.bytes);
}

void ShellCall::on(const ShellTaken& taken) {
  if (input_) input_->taken(taken.bytes);
}

void ShellCall::on(const ShellEnded& ended) {
  for (const auto* writer : {&output_, &errors_}) {
    (*writer)->end();
    (*writer)->wait();
  }
  events_.ended(ended);
}

// Any thread; the line is there before another one is.
void ShellCall::say(const ShellMessage& message) { line_->send(wire::message_to_frame(message)); }

}  // namespace piracema::jobs
