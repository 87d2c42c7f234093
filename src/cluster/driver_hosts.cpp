#include "cluster/driver_hosts.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "cluster/hosts.h"

namespace piracema::cluster {

namespace {

// An agent that was told where its coordinator is calls it at once, and is ready at once.
constexpr std::chrono::seconds calls_within{10};
// An agent whose remote shell has ended tells how its processes end, and leaves.
constexpr std::chrono::seconds leaves_within{1};
// A host that is silent gets no processes; after this long its connection is given up, too.
constexpr std::chrono::seconds silent_max{10};
constexpr std::chrono::seconds pause_min{1}, pause_max{16};

}  // namespace

Hosts::Hosts(net::Poller& poller, const JobOptions& options, std::string token, Door& door,
             SetupFor setup_for, Events events)
    : poller_(poller),
      options_(options),
      token_(std::move(token)),
      door_(door),
      setup_for_(std::move(setup_for)),
      events_(std::move(events)),
      hosts_(options.hosts.size()) {}

Hosts::~Hosts() {
  if (next_pulse_) poller_.cancel(*next_pulse_);
  for (Host& host : hosts_) {
    if (host.timer) poller_.cancel(*host.timer);
    if (host.line) host.line->close();
  }
}

// One listener for each of our addresses that faces a host, and none where nobody needs it.
Result<Done> Hosts::call_all() {
  for (const std::string& path : {std::string("/proc/self/exe"), options_.command.front()}) {
    std::error_code failed;
    const std::string real = std::filesystem::canonical(path, failed);
    if (failed) return Error{Errc::config, concat("'", path, "': ", failed.message())};
    auto file = describe_file(real);
    if (!file) return file.error();
    files_.push_back(*std::move(file));
  }
  std::error_code ignored;
  directory_ = std::filesystem::current_path(ignored).string();

  std::map<std::string, std::string> doors;
  for (std::size_t number = 0; number < hosts_.size(); ++number) {
    const HostOptions& host = options_.hosts[number];
    if (host.here) continue;
    const auto facing = address_facing(host.address);
    if (!facing) return facing.error();
    std::string& where = doors[*facing];
    if (where.empty()) {
      auto listens = door_.listen(*facing);
      if (!listens) return listens.error();
      where = *listens;
    }
    hosts_[number].coordinator = where;
    if (auto called = call(number); !called) return called;
  }
  pulse();
  return Done{};
}

Result<Done> Hosts::call(std::size_t number) {
  Host& host = hosts_[number];
  host.call.reset();
  host.attempt += 1;
  std::vector<std::string> rsh = options_.rsh;
  rsh.push_back(options_.hosts[number].name);
  auto called = HostCall::start(
      poller_, std::move(rsh), Staging(files_, directory_),
      concat(host.coordinator, " ", token_, " ", number, " ", host.attempt, "\n"),
      {.told = [this, number] { agent_told(number); },
       .ended = [this, number](const std::string& how) { call_ended(number, how); }});
  if (!called) return called.error();
  host.call = *std::move(called);
  return Done{};
}

void Hosts::agent_told(std::size_t number) {
  set_timer(hosts_[number], calls_within, [this, number] {
    call_ended(number, concat("its agent does not reach ", hosts_[number].coordinator));
  });
}

Result<net::Connection::Events> Hosts::joined(const AgentHello& hello, Door::Line line) {
  const bool expected = hello.host < hosts_.size() && hosts_[hello.host].call &&
                        hosts_[hello.host].attempt == hello.attempt && !hosts_[hello.host].line;
  if (!expected || leaving_) {
    return Error{Errc::refused, concat("no agent is expected on host ", hello.host)};
  }
  const std::size_t number = hello.host;
  Host& host = hosts_[number];
  set_timer(host, calls_within, [this, number] { lose(number, "its agent does not get ready"); });
  host.line = std::move(line);
  host.heard_at = now();
  host.output_taken = 0;
  send(number, ToAgent(setup_for_(host.coordinator)));
  return net::Connection::Events{
      .received = [this, number](const wire::Frame& frame) { hear(number, frame); },
      .lost = [this, number](const Error& why) { lose(number, why.message); }};
}

void Hosts::hear(std::size_t number, const wire::Frame& frame) {
  const auto message = from_agent(frame);
  if (!message) return lose(number, message.error().message);
  Host& host = hosts_[number];
  host.heard_at = now();
  if (const auto* agent = std::get_if<AgentReady>(&*message)) {
    ready(number, agent->why_not);
  } else if (const auto* output = std::get_if<Output>(&*message)) {
    take_output(host, *output);
  } else {
    events_.said(number, *message);
  }
}

// Where the snapshots' directory is another one now, the host is of no more use than one that is
// away; it may be mounted again.
void Hosts::ready(std::size_t number, const std::string& why_not) {
  Host& host = hosts_[number];
  if (host.up) return;
  if (!why_not.empty()) return lose(number, why_not);
  if (host.timer) poller_.cancel(*std::exchange(host.timer, std::nullopt));
  host.up = true;
  host.pause = {};
  if (std::exchange(host.was_up, true)) {
    log(Level::info, concat("host ", options_.hosts[number].name, " is back"));
  }
  events_.up(number);
}

// As if they wrote to it themselves.
void Hosts::take_output(Host& host, const Output& output) {
  const int to = options_.output_to_error ? STDERR_FILENO : STDOUT_FILENO;
  for (std::size_t at = 0; at < output.text.size();) {
    const ssize_t count = ::write(to, output.text.data() + at, output.text.size() - at);
    if (count < 0 && errno != EINTR) break;
    if (count > 0) at += static_cast<std::size_t>(count);
  }
  host.output_taken += output.text.size();
}

// Its agent ends with it, and tells until then how its processes end.
void Hosts::call_ended(std::size_t number, const std::string& how) {
  Host& host = hosts_[number];
  if (leaving_) return drop_call(host);
  if (!host.line) return lose(number, how);
  host.up = false;
  set_timer(host, leaves_within, [this, number, how] { lose(number, how); });
}

void Hosts::lose(std::size_t number, const std::string& why) {
  Host& host = hosts_[number];
  const HostOptions& options = options_.hosts[number];
  const bool had_agent = host.line != nullptr;
  if (host.line) std::exchange(host.line, nullptr)->close();
  host.up = false;
  if (leaving_) return;  // Its shell has yet to remove what it has made.
  drop_call(host);
  if (!host.was_up) {
    return events_.unreachable({Errc::config, concat(options.named_at, ": host '", options.name,
                                                     "' cannot be used: ", why)});
  }
  log(had_agent ? Level::warning : Level::debug, concat("host ", options.name, " was lost: ", why));
  call_later(number);
  if (had_agent) events_.lost(number, concat("host ", options.name, " was lost: ", why));
}

// Not from within a call of its own.
void Hosts::drop_call(Host& host) {
  if (host.call) poller_.post([call = std::shared_ptr<HostCall>(std::move(host.call))] {});
}

void Hosts::call_later(std::size_t number) {
  Host& host = hosts_[number];
  host.pause = std::clamp<Time>(2 * host.pause, pause_min, pause_max);
  set_timer(host, host.pause, [this, number] {
    if (auto called = call(number); !called) call_later(number);
  });
}

void Hosts::set_timer(Host& host, Time in, std::function<void()> what) {
  if (host.timer) poller_.cancel(*host.timer);
  host.timer = poller_.at(now() + in, [&host, what = std::move(what)] {
    host.timer.reset();
    what();
  });
}

void Hosts::pulse() {
  const Time silent = std::max<Time>(silent_max, 4 * options_.settings.heartbeat_timeout);
  for (std::size_t number = 0; number < hosts_.size(); ++number) {
    Host& host = hosts_[number];
    if (!host.line) continue;
    if (host.up && now() - host.heard_at > silent) {
      lose(number, concat("it was silent for ", silent / std::chrono::seconds(1), " s"));
    } else {
      send(number, ToAgent(Pulse{host.output_taken}));
    }
  }
  next_pulse_ = poller_.at(now() + options_.settings.heartbeat_interval, [this] { pulse(); });
}

void Hosts::send(std::size_t number, const ToAgent& message) {
  if (hosts_[number].line) hosts_[number].line->send(to_frame(message));
}

bool Hosts::all_up() const {
  for (std::size_t number = 0; number < hosts_.size(); ++number) {
    if (!options_.hosts[number].here && !hosts_[number].up) return false;
  }
  return true;
}

bool Hosts::can_start(std::size_t number) const {
  const Host& host = hosts_[number];
  if (options_.hosts[number].here) return true;
  // Sooner than a worker there is given up: its successor is not to be sent after it.
  return host.up && now() - host.heard_at < 3 * options_.settings.heartbeat_interval;
}

bool Hosts::is_silent(std::size_t number) const {
  const Host& host = hosts_[number];
  return host.up && now() - host.heard_at > 2 * options_.settings.heartbeat_timeout;
}

void Hosts::reap_all() {
  for (Host& host : hosts_) {
    if (host.call) host.call->reap();
  }
}

void Hosts::leave() {
  leaving_ = true;
  for (std::size_t number = 0; number < hosts_.size(); ++number) {
    Host& host = hosts_[number];
    if (host.timer) poller_.cancel(*std::exchange(host.timer, std::nullopt));
    if (host.line && can_start(number)) {
      send(number, ToAgent(Leave{}));
    } else if (host.call) {
      host.call.reset();
    }
  }
}

bool Hosts::all_left() const {
  return std::none_of(hosts_.begin(), hosts_.end(),
                      [](const Host& host) { return host.call != nullptr; });
}

void Hosts::end_all() {
  for (Host& host : hosts_) host.call.reset();
}

}  // namespace piracema::cluster
