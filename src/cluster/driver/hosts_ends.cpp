// How hosts are lost, called again, and left.
#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "cluster/driver/hosts.h"

namespace piracema::cluster {

namespace {

// An agent whose remote shell has ended tells how its processes end, and leaves.
constexpr std::chrono::seconds leaves_within{1};
constexpr std::chrono::seconds pause_min{1}, pause_max{16};
// Of a host whose agent was told to leave: by then it is gone, if it goes at all.
constexpr std::chrono::minutes called_again_after{2};
// Of an agent on this machine, which is only started again.
constexpr std::chrono::milliseconds pause_min_here{10};

}  // namespace

// The agent ends with it, or has, and tells until then how its processes end.
void Hosts::call_ended(std::size_t number, const std::string& how) {
  Host& host = hosts_[number];
  if (leaving_) return drop_call(host);
  if (!host.line || host.line_over) return lose(number, how);
  // Then it has only ended what had called the agent, which outlives it.
  if (options_.keep_workers.count() != 0 && !is_here(number)) return drop_call(host);
  host.up = false;
  if (is_here(number)) host.process_over = how;
  set_timer(host, leaves_within, [this, number, how] { lose(number, how); });
}

// Of an agent on this machine, and of one that leaves, the end of its process follows at once.
void Hosts::line_ended(std::size_t number, const std::string& how) {
  Host& host = hosts_[number];
  if (!(is_here(number) || host.left) || !host.call || leaving_) return lose(number, how);
  if (host.process_over) return lose(number, std::string(*host.process_over));
  host.up = false;
  host.line_over = true;
  set_timer(host, leaves_within, [this, number, how] { lose(number, how); });
}

void Hosts::lose(std::size_t number, const std::string& why) {
  Host& host = hosts_[number];
  const HostOptions& options = options_.hosts[number];
  const bool had_agent = host.line != nullptr;
  if (host.line) std::exchange(host.line, nullptr)->close();
  host.up = host.line_over = false;
  host.process_over.reset();
  if (leaving_) return;  // Its shell has yet to remove what it has made.
  drop_call(host);
  if (host.left) return has_left(number);
  if (!host.was_up) {
    const std::string where = options.named_at.empty()
                                  ? options.name
                                  : concat(options.named_at, ": host '", options.name, "'");
    const std::string cannot = concat(where, " cannot be used: ", why);
    if (!host.added) return events_.unreachable({Errc::config, cannot});
    log(host.pause == Time{} ? Level::warning : Level::debug, cannot);
    return call_later(number);
  }
  const std::string loss = concat(described(options), " was lost: ", why);
  log(had_agent ? Level::warning : Level::debug, loss);
  call_later(number);
  if (had_agent) events_.lost(number, loss);
}

void Hosts::want(std::size_t number, bool wanted) {
  Host& host = hosts_[number];
  if (std::exchange(host.wanted, wanted) == wanted || !wanted) return;
  host.pause = {};
  if (!host.call && !host.line) call_later(number);
}

void Hosts::let_leave(std::size_t number) {
  Host& host = hosts_[number];
  if (!host.line || std::exchange(host.left, true)) return;
  send(number, ToAgent(Leave{}));
  host.up = false;
}

// By itself: whoever has told its agent to leave wants to be rid of the job for a while.
void Hosts::has_left(std::size_t number) {
  Host& host = hosts_[number];
  const std::string left = concat(described(options_.hosts[number]), " is drained");
  log(Level::info, left);
  host.left = false;
  call_later(number, host.leaving ? Time(called_again_after) : Time{});
  events_.lost(number, left);
}

// Not from within a call of its own.
void Hosts::drop_call(Host& host) {
  if (host.call) poller_.post([call = std::shared_ptr<AgentCall>(std::move(host.call))] {});
}

void Hosts::call_later(std::size_t number, Time pause) {
  Host& host = hosts_[number];
  if (host.timer) poller_.cancel(*std::exchange(host.timer, std::nullopt));
  const Time least = is_here(number) ? Time(pause_min_here) : Time(pause_min);
  host.pause = std::clamp<Time>(2 * host.pause, least, pause_max);
  if (!host.wanted) return;
  set_timer(host, std::max(pause, host.pause), [this, number] {
    if (auto called = call(number); !called) call_later(number);
  });
}

void Hosts::reap_all() {
  for (Host& host : hosts_) {
    if (host.call) host.call->reap();
  }
}

void Hosts::let_go() {
  leaving_ = true;
  for (Host& host : hosts_) {
    if (host.timer) poller_.cancel(*std::exchange(host.timer, std::nullopt));
    if (host.call) host.call->let_go();
  }
}

void Hosts::leave() {
  leaving_ = true;
  for (std::size_t number = 0; number < hosts_.size(); ++number) {
    Host& host = hosts_[number];
    if (host.timer) poller_.cancel(*std::exchange(host.timer, std::nullopt));
    if (host.line && host.up && was_just_heard(number)) {
      send(number, ToAgent(Leave{}));
    } else {
      host.call.reset();
      if (is_here(number) && host.line) std::exchange(host.line, nullptr)->close();
    }
  }
}

bool Hosts::all_left() const {
  return std::none_of(hosts_.begin(), hosts_.end(),
                      [](const Host& host) { return host.call || host.line; });
}

void Hosts::end_all() {
  for (Host& host : hosts_) host.call.reset();
}

}  // namespace piracema::cluster
