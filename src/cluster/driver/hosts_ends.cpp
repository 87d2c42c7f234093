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

}  // namespace

// Its agent ends with it, and tells until then how its processes end.
void Hosts::call_ended(std::size_t number, const std::string& how) {
  Host& host = hosts_[number];
  if (leaving_) return drop_call(host);
  if (!host.line) return lose(number, how);
  // Then it has only ended what had called the agent, which outlives it.
  if (options_.keep_workers.count() != 0 && !options_.hosts[number].here) return drop_call(host);
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
  if (host.call) poller_.post([call = std::shared_ptr<AgentCall>(std::move(host.call))] {});
}

void Hosts::call_later(std::size_t number) {
  Host& host = hosts_[number];
  host.pause = std::clamp<Time>(2 * host.pause, pause_min, pause_max);
  set_timer(host, host.pause, [this, number] {
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
    if (host.line && can_start(number)) {
      send(number, ToAgent(Leave{}));
    } else if (host.call) {
      host.call.reset();
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
