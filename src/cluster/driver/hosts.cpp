#include "cluster/driver/hosts.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "host/host_call.h"
#include "host/local_agent.h"

namespace piracema::cluster {

namespace {

// An agent that was told where its coordinator is calls it at once, and is ready at once.
constexpr std::chrono::seconds calls_within{10};
// So many bits of the number of a call tell which of its coordinator's it is.
constexpr int calls_of_a_term_bits = 16;
// An agent whose remote shell has ended tells how its processes end, and leaves.
constexpr std::chrono::seconds leaves_within{1};
// Of a host whose agent was told to leave: by then it is gone, if it goes at all.
constexpr std::chrono::minutes called_again_after{2};
// A host that is silent gets no processes; after this long its connection is given up, too.
constexpr std::chrono::seconds silent_max{10};

}  // namespace

// ---- how hosts are called, and their agents join ------------------------------------------------

Hosts::Hosts(net::Poller& poller, const JobOptions& options, std::string token, Door& door,
             SetupFor setup_for, Events events)
    : poller_(poller),
      options_(options),
      token_(std::move(token)),
      setup_for_(std::move(setup_for)),
      events_(std::move(events)),
      agent_doors_(door, options.leading != nullptr),
      staged_(options.agent, options.command.front()) {
  for (const HostOptions& host : options.hosts) {
    hosts_.emplace_back(HostStanding(host.here, HostStanding::Known::expected));
  }
}

Hosts::~Hosts() {
  if (next_pulse_) poller_.cancel(*next_pulse_);
  for (Host& host : hosts_) {
    if (host.timer) poller_.cancel(*host.timer);
    if (host.line) host.line->close();
  }
}

Result<Done> Hosts::open_doors() {
  for (std::size_t number = 0; number < hosts_.size(); ++number) {
    if (auto opened = open_door_to(number); !opened) return opened;
  }
  pulse();
  return Done{};
}

Result<Done> Hosts::open_door_to(std::size_t number) {
  auto where = agent_doors_.facing(options_.hosts[number]);
  if (!where) return where.error();
  hosts_[number].coordinator = *std::move(where);
  return Done{};
}

Result<Done> Hosts::call_all() {
  if (auto opened = open_doors(); !opened) return opened;
  for (std::size_t number = 0; number < hosts_.size(); ++number) {
    if (auto called = call(number); !called) return called;
  }
  return Done{};
}

void Hosts::call_added(std::size_t number) {
  if (auto called = call(number); !called) {
    log(Level::warning,
        concat(described(options_.hosts[number]), " cannot be used: ", called.error().message));
    call_later(number);
  }
}

Result<Done> Hosts::wait_for_all(Time until, std::uint64_t term) {
  if (auto opened = open_doors(); !opened) return opened;
  for (std::size_t number = 0; number < hosts_.size(); ++number) {
    Host& host = hosts_[number];
    host.attempt = static_cast<std::uint32_t>(term) << calls_of_a_term_bits;
    host.standing.await_former();
    set_timer(host, until - now(), [this, number] {
      hosts_[number].standing.give_up_former();
      if (!is_wanted(number)) return;
      if (auto called = call(number); !called) call_later(number);
    });
  }
  return Done{};
}

bool Hosts::all_came_back() const {
  return std::all_of(hosts_.begin(), hosts_.end(),
                     [](const Host& host) { return host.standing.former_came(); });
}

Result<Done> Hosts::call(std::size_t number) {
  Host& host = hosts_[number];
  // Of one that was added, when there was no way there.
  if (host.coordinator.empty()) {
    if (auto opened = open_door_to(number); !opened) return opened;
  }
  host.call.reset();
  host.attempt += 1;
  std::string first_line =
      concat(host.coordinator, " ", token_, " ", number, " ", host.attempt, "\n");
  return is_here(number) ? start_here(number, std::move(first_line))
                         : bring_there(number, std::move(first_line));
}

Result<Done> Hosts::start_here(std::size_t number, std::string first_line) {
  auto agent =
      LocalAgent::start(poller_,
                        {.agent = options_.agent,
                         .program = options_.command.front(),
                         .first_line = std::move(first_line),
                         .hand_on_input = options_.hand_on_input,
                         .output_to_error = options_.output_to_error,
                         .outlives_us = options_.keep_workers.count() != 0},
                        [this, number](const std::string& how) { call_ended(number, how); });
  if (!agent) return agent.error();
  // Nobody else has the other end.
  auto line = net::Connection::open(poller_, (*agent)->take_line(), {});
  hosts_[number].call = *std::move(agent);
  line->trust(welcome(number, line));
  return Done{};
}

Result<Done> Hosts::bring_there(std::size_t number, std::string first_line) {
  auto staging = staged_.staging();
  if (!staging) return staging.error();
  std::vector<std::string> rsh = options_.rsh;
  rsh.push_back(options_.hosts[number].name);
  auto called = HostCall::start(
      poller_, std::move(rsh), *std::move(staging), std::move(first_line),
      {.told = [this, number] { agent_told(number); },
       .ended = [this, number](const std::string& how) { call_ended(number, how); }});
  if (!called) return called.error();
  hosts_[number].call = *std::move(called);
  return Done{};
}

void Hosts::agent_told(std::size_t number) {
  set_timer(hosts_[number], calls_within, [this, number] {
    call_ended(number, concat("its agent does not reach ", hosts_[number].coordinator));
  });
}

Result<net::Connection::Events> Hosts::joined(const AgentHello& hello, Door::Line line) {
  const bool expected = hello.host < hosts_.size() && !hosts_[hello.host].line &&
                        (hosts_[hello.host].standing.awaits_former() ||
                         (hosts_[hello.host].call && hosts_[hello.host].attempt == hello.attempt));
  if (!expected || leaving_) {
    // It would look for another coordinator for a while, and there is none.
    if (!events_.may_send_away || events_.may_send_away()) line->send(to_frame(ToAgent(Leave{})));
    return Error{Errc::refused, concat("no agent is expected on host ", hello.host)};
  }
  auto events = welcome(hello.host, std::move(line));
  Host& host = hosts_[hello.host];
  if (host.standing.awaits_former()) {
    host.standing.former_comes();
    events_.came_back(hello.host, hello.running);
  }
  return events;
}

net::Connection::Events Hosts::welcome(std::size_t number, Door::Line line) {
  Host& host = hosts_[number];
  set_timer(host, calls_within, [this, number] { lose(number, "its agent does not get ready"); });
  host.standing.agent_comes(now());
  host.line = std::move(line);
  host.output.begin_anew();
  send(number, ToAgent(setup_for_(number, host.coordinator)));
  return {.received = [this, number](const wire::Frame& frame) { hear(number, frame); },
          .lost = [this, number](const Error& why) { line_ended(number, why.message); }};
}

void Hosts::set_timer(Host& host, Time in, std::function<void()> what) {
  if (host.timer) poller_.cancel(*host.timer);
  host.timer = poller_.at(now() + in, [&host, what = std::move(what)] {
    host.timer.reset();
    what();
  });
}

// ---- what agents say, and what their silence does -----------------------------------------------

void Hosts::hear(std::size_t number, const wire::Frame& frame) {
  const auto message = from_agent(frame);
  if (!message) return lose(number, message.error().message);
  Host& host = hosts_[number];
  host.standing.heard(now());
  // Nobody asks the one that we have started ourselves.
  if (std::holds_alternative<AgentHello>(*message)) return;
  if (const auto* agent = std::get_if<AgentReady>(&*message)) {
    ready(number, agent->why_not);
  } else if (const auto* output = std::get_if<Output>(&*message)) {
    host.output.take(output->text, options_.output_to_error ? STDERR_FILENO : STDOUT_FILENO);
  } else if (std::holds_alternative<Leaving>(*message)) {
    if (!host.standing.told_to_leave()) return;
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
  if (host.standing.is_up()) return;
  if (!why_not.empty()) return lose(number, why_not);
  if (host.timer) poller_.cancel(*std::exchange(host.timer, std::nullopt));
  host.pause.begin_anew();
  using Known = HostStanding::Known;
  const Known known = host.standing.agent_ready();
  if (known != Known::expected) {
    const char* const how = known == Known::added ? " is there" : " is back";
    log(Level::info, concat(described(options_.hosts[number]), how));
  }
  events_.up(number);
}

void Hosts::pulse() {
  const Time silent = std::max<Time>(silent_max, 4 * options_.settings.heartbeat_timeout);
  // What agents have said while this process was stopped it has not read yet.
  const Time interval = options_.settings.heartbeat_interval;
  const Time last = std::exchange(pulsed_at_, now());
  const Time stopped = last == Time{} ? Time{} : pulsed_at_ - last - interval;
  const auto coordinators =
      events_.coordinators ? events_.coordinators() : std::vector<std::string>();
  for (std::size_t number = 0; number < hosts_.size(); ++number) {
    Host& host = hosts_[number];
    if (stopped > interval) host.standing.nobody_listened(stopped);
    host.standing.look(now(), options_.settings);
    if (!host.line) continue;
    if (is_up(number) && host.standing.silent_for(now()) > silent) {
      if (events_.may_send_away && !events_.may_send_away()) return;
      lose(number, concat("it was silent for ", silent / std::chrono::seconds(1), " s"));
    } else {
      send(number, ToAgent(Pulse{host.output.bytes(), coordinators}));
    }
  }
  next_pulse_ = poller_.at(now() + interval, [this] { pulse(); });
}

void Hosts::send(std::size_t number, const ToAgent& message) {
  if (hosts_[number].line) hosts_[number].line->send(to_frame(message));
}

bool Hosts::all_up() const {
  return std::all_of(hosts_.begin(), hosts_.end(), [](const Host& host) {
    const HostStanding& one = host.standing;
    return one.is_up() || !one.is_wanted() || one.known() == HostStanding::Known::added;
  });
}

// ---- how hosts are lost, called again, and left -------------------------------------------------

// The agent ends with it, or has, and tells until then how its processes end.
void Hosts::call_ended(std::size_t number, const std::string& how) {
  Host& host = hosts_[number];
  if (leaving_) return drop_call(host);
  if (!host.line || host.standing.has_line_ended()) return lose(number, how);
  // Then it has only ended what had called the agent, which outlives it.
  if (options_.keep_workers.count() != 0 && !is_here(number)) return drop_call(host);
  host.standing.begin_to_end();
  if (is_here(number)) host.standing.process_ended(how);
  set_timer(host, leaves_within, [this, number, how] { lose(number, how); });
}

// Of an agent on this machine, and of one that leaves, the end of its process follows at once.
void Hosts::line_ended(std::size_t number, const std::string& how) {
  Host& host = hosts_[number];
  const bool has_process = is_here(number) || host.standing.was_sent_away();
  if (!has_process || !host.call || leaving_) return lose(number, how);
  if (host.standing.has_process_ended()) {
    return lose(number, std::string(host.standing.how_process_ended()));
  }
  host.standing.line_ended();
  set_timer(host, leaves_within, [this, number, how] { lose(number, how); });
}

void Hosts::lose(std::size_t number, const std::string& why) {
  Host& host = hosts_[number];
  const HostOptions& options = options_.hosts[number];
  const bool had_agent = host.line != nullptr;
  if (host.line) std::exchange(host.line, nullptr)->close();
  const bool was_sent_away = host.standing.agent_lost();
  if (leaving_) return;  // Its shell has yet to remove what it has made.
  drop_call(host);
  if (was_sent_away) return has_left(number);
  const HostStanding::Known known = host.standing.known();
  if (known != HostStanding::Known::been_up) {
    const std::string where = options.named_at.empty()
                                  ? options.name
                                  : concat(options.named_at, ": host '", options.name, "'");
    const std::string cannot = concat(where, " cannot be used: ", why);
    if (known == HostStanding::Known::expected) return events_.unreachable({Errc::config, cannot});
    log(host.pause.is_first() ? Level::warning : Level::debug, cannot);
    return call_later(number);
  }
  const std::string loss = concat(described(options), " was lost: ", why);
  log(had_agent ? Level::warning : Level::debug, loss);
  call_later(number);
  if (had_agent) events_.lost(number, loss);
}

void Hosts::want(std::size_t number, bool wanted) {
  Host& host = hosts_[number];
  if (!host.standing.want(wanted)) return;
  host.pause.begin_anew();
  if (!host.call && !host.line) call_later(number);
}

void Hosts::let_leave(std::size_t number) {
  Host& host = hosts_[number];
  if (!host.line || !host.standing.send_away()) return;
  send(number, ToAgent(Leave{}));
}

// By itself: whoever has told its agent to leave wants to be rid of the job for a while.
void Hosts::has_left(std::size_t number) {
  Host& host = hosts_[number];
  const std::string left = concat(described(options_.hosts[number]), " is drained");
  log(Level::info, left);
  call_later(number, host.standing.was_told_to_leave() ? Time(called_again_after) : Time{});
  events_.lost(number, left);
}

// Not from within a call of its own.
void Hosts::drop_call(Host& host) {
  if (host.call) poller_.post([call = std::shared_ptr<AgentCall>(std::move(host.call))] {});
}

void Hosts::call_later(std::size_t number, Time pause) {
  Host& host = hosts_[number];
  if (host.timer) poller_.cancel(*std::exchange(host.timer, std::nullopt));
  pause = std::max(pause, host.pause.next(is_here(number)));
  if (!host.standing.is_wanted()) return;
  set_timer(host, pause, [this, number] {
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
    const bool hears = is_up(number) && host.standing.was_just_heard(now(), options_.settings);
    if (host.line && hears) {
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
