// What agents say, and what their silence does.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "cluster/driver/hosts.h"

namespace piracema::cluster {

namespace {

// A host that is silent gets no processes; after this long its connection is given up, too.
constexpr std::chrono::seconds silent_max{10};
// Of a host that was not heard for a while; it doubles each time.
constexpr std::chrono::seconds trial_min{1}, trial_max{300};

}  // namespace

void Hosts::hear(std::size_t number, const wire::Frame& frame) {
  const auto message = from_agent(frame);
  if (!message) return lose(number, message.error().message);
  Host& host = hosts_[number];
  host.heard_at = now();
  // Nobody asks the one that we have started ourselves.
  if (std::holds_alternative<AgentHello>(*message)) return;
  if (const auto* agent = std::get_if<AgentReady>(&*message)) {
    ready(number, agent->why_not);
  } else if (const auto* output = std::get_if<Output>(&*message)) {
    take_output(host, *output);
  } else if (std::holds_alternative<Leaving>(*message)) {
    if (std::exchange(host.leaving, true)) return;
    log(Level::info, concat(described(options_.hosts[number]), " may be gone soon"));
    if (events_.leaving) events_.leaving(number);
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
  if (std::exchange(host.was_up, true) || host.added) {
    const char* const how = std::exchange(host.added, false) ? " is there" : " is back";
    log(Level::info, concat(described(options_.hosts[number]), how));
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

void Hosts::pulse() {
  const Time silent = std::max<Time>(silent_max, 4 * options_.settings.heartbeat_timeout);
  for (std::size_t number = 0; number < hosts_.size(); ++number) {
    Host& host = hosts_[number];
    look_for_gaps(number);
    if (!host.line) continue;
    if (host.up && now() - host.heard_at > silent) {
      lose(number, concat("it was silent for ", silent / std::chrono::seconds(1), " s"));
    } else {
      send(number, ToAgent(Pulse{host.output_taken}));
    }
  }
  next_pulse_ = poller_.at(now() + options_.settings.heartbeat_interval, [this] { pulse(); });
}

void Hosts::look_for_gaps(std::size_t number) {
  Host& host = hosts_[number];
  if (!can_start(number)) {
    if (host.steady_since) host.trial = std::clamp<Time>(2 * host.trial, trial_min, trial_max);
    host.steady_since.reset();
  } else if (!host.steady_since) {
    host.steady_since = now();
  }
}

bool Hosts::is_steady(std::size_t number) const {
  const Host& host = hosts_[number];
  return can_start(number) && host.steady_since && now() - *host.steady_since >= host.trial;
}

void Hosts::send(std::size_t number, const ToAgent& message) {
  if (hosts_[number].line) hosts_[number].line->send(to_frame(message));
}

bool Hosts::all_up() const {
  for (std::size_t number = 0; number < hosts_.size(); ++number) {
    if (!is_up(number) && is_wanted(number) && !hosts_[number].added) return false;
  }
  return true;
}

const char* Hosts::state_of(std::size_t number) const {
  const Host& host = hosts_[number];
  if (is_draining(number)) return host.up ? "draining" : "drained";
  if (host.up) return is_silent(number) ? "silent" : "here";
  return host.was_up ? "lost" : "called";
}

// What is here is busy, or stopped, and takes what it is told when it goes on.
bool Hosts::can_start(std::size_t number) const {
  return hosts_[number].up && !is_draining(number) && (is_here(number) || was_just_heard(number));
}

// Sooner than a worker there is given up: its successor is not to be sent after it.
bool Hosts::was_just_heard(std::size_t number) const {
  return now() - hosts_[number].heard_at < 3 * options_.settings.heartbeat_interval;
}

bool Hosts::is_silent(std::size_t number) const {
  const Host& host = hosts_[number];
  return host.up && now() - host.heard_at > 2 * options_.settings.heartbeat_timeout;
}

}  // namespace piracema::cluster
