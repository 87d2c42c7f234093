#include "ckpt/hosts/host_line.h"

#include <utility>

#include "base/text.h"
#include "ckpt/hosts/host_agent.h"
#include "wire/fields.h"

namespace piracema::ckpt {

namespace {

// A remote shell that has hung up is about to end.
constexpr std::chrono::seconds last_words{2};

}  // namespace

Result<std::unique_ptr<HostLine>> HostLine::call(net::Poller& poller, std::vector<std::string> way,
                                                 const std::string& program, const HostOpen& open,
                                                 Events events) {
  way.insert(way.end(), {program, "ckpt", "agent"});
  auto shell = RemoteShell::start(way);
  if (!shell) return shell.error();
  std::unique_ptr<HostLine> line(new HostLine(poller, *std::move(shell), std::move(events)));
  line->say(ToAgent::open, wire::encode(open));
  line->sign();
  return line;
}

HostLine::HostLine(net::Poller& poller, RemoteShell shell, Events events)
    : poller_(poller),
      shell_(std::move(shell)),
      pipe_(shell_.channel(), shell_.channel()),
      events_(std::move(events)),
      heard_(now()) {
  poller_.watch(pipe_.in(), EPOLLIN, [this](std::uint32_t) { hear(); });
}

HostLine::~HostLine() {
  poller_.cancel(timer_);
  if (!lost_) poller_.forget(pipe_.in());
}

void HostLine::say(ToAgent kind, const Buffer& head) {
  if (lost_) return;
  // That it is not taken is noticed when it is listened to.
  (void)pipe_.send(static_cast<std::uint8_t>(kind), head);
}

// An agent says something every second; a host that is cut off, or stopped, does not.
void HostLine::sign() {
  if (now() - heard_ > host_silence) {
    return fail(
        concat("nothing was heard of it for ", std::chrono::seconds(host_silence).count(), " s"));
  }
  say(ToAgent::alive, {});
  timer_ = poller_.at(now() + sign_interval, [this] { sign(); });
}

void HostLine::hear() {
  if (const auto filled = pipe_.fill(); !filled) {
    poller_.forget(pipe_.in());
    const std::string how = shell_.end(now() + last_words);
    const char* what = spoken_ ? "its agent has gone" : "it cannot be reached";
    lost_ = true;
    return events_.lost(
        concat(std::string_view(what), how.empty() ? "" : ": the remote shell ", how));
  }
  while (!lost_) {
    const auto frame = pipe_.next();
    if (!frame) return fail("what came is not of an agent: does its shell print something?");
    if (!*frame) return;
    heard_ = now();
    spoken_ = true;
    take(**frame);
  }
}

void HostLine::take(const wire::Frame& frame) {
  switch (static_cast<FromAgent>(frame.kind)) {
    case FromAgent::opened:
      if (auto message = wire::decode<HostOpened>(frame.head)) opened_ = *message;
      return;
    case FromAgent::alive:
      if (auto message = wire::decode<HostAlive>(frame.head)) alive_ = *message;
      return;
    case FromAgent::report:
      if (auto message = wire::decode<Report>(frame.head)) return events_.report(*message);
      return fail("a report that is none");
    case FromAgent::failed:
      return fail(std::string(as_text(frame.head)));
  }
  fail("a message of no kind that is known");
}

void HostLine::fail(const std::string& why) {
  if (std::exchange(lost_, true)) return;
  poller_.forget(pipe_.in());
  events_.lost(why);
}

}  // namespace piracema::ckpt
