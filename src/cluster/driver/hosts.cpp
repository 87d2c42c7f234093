// How hosts are called, and their agents join.
#include "cluster/driver/hosts.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "host/host_names.h"
#include "host/local_agent.h"

namespace piracema::cluster {

namespace {

// An agent that was told where its coordinator is calls it at once, and is ready at once.
constexpr std::chrono::seconds calls_within{10};
// So many bits of the number of a call tell which of its coordinator's it is.
constexpr int calls_of_a_term_bits = 16;

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

Result<Done> Hosts::open_doors() {
  for (std::size_t number = 0; number < hosts_.size(); ++number) {
    if (auto opened = open_door_to(number); !opened) return opened;
  }
  pulse();
  return Done{};
}

// One listener for each of our addresses that faces a host, and none where nobody needs it.
Result<Done> Hosts::open_door_to(std::size_t number) {
  // One of several coordinators is where all have been told that it is.
  if (is_here(number) || options_.leading != nullptr) {
    hosts_[number].coordinator = door_.address();
    return Done{};
  }
  const auto facing = address_facing(options_.hosts[number].address);
  if (!facing) return facing.error();
  std::string& where = doors_[*facing];
  if (where.empty()) {
    auto listens = door_.listen(*facing);
    if (!listens) return listens.error();
    where = *listens;
  }
  hosts_[number].coordinator = where;
  return Done{};
}

Result<Done> Hosts::call_all() {
  if (auto opened = open_doors(); !opened) return opened;
  for (std::size_t number = 0; number < hosts_.size(); ++number) {
    if (auto called = call(number); !called) return called;
  }
  return Done{};
}

void Hosts::add() {
  const std::size_t number = hosts_.size();
  hosts_.emplace_back().added = true;
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
    // It was there, or else the job would not have begun.
    host.awaited = host.was_up = true;
    set_timer(host, until - now(), [this, number] {
      hosts_[number].awaited = false;
      if (auto called = call(number); !called) call_later(number);
    });
  }
  return Done{};
}

bool Hosts::all_came_back() const {
  return std::all_of(hosts_.begin(), hosts_.end(), [](const Host& host) { return host.came_back; });
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

// Their checksums take a tenth of a second: whoever takes a job over has agents already, which
// wait.
Result<Done> Hosts::describe_files() {
  if (!files_.empty()) return Done{};
  std::vector<StagedFile> files;
  for (const std::string& path : {options_.agent, options_.command.front()}) {
    auto file = describe_file(path);
    if (!file) return file.error();
    files.push_back(*std::move(file));
  }
  files_ = std::move(files);
  std::error_code ignored;
  directory_ = std::filesystem::current_path(ignored).string();
  return Done{};
}

Result<Done> Hosts::bring_there(std::size_t number, std::string first_line) {
  if (auto described = describe_files(); !described) return described;
  std::vector<std::string> rsh = options_.rsh;
  rsh.push_back(options_.hosts[number].name);
  auto called = HostCall::start(
      poller_, std::move(rsh), Staging(files_, directory_), std::move(first_line),
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
                        (hosts_[hello.host].awaited ||
                         (hosts_[hello.host].call && hosts_[hello.host].attempt == hello.attempt));
  if (!expected || leaving_) {
    // It would look for another coordinator for a while, and there is none.
    if (!events_.may_send_away || events_.may_send_away()) line->send(to_frame(ToAgent(Leave{})));
    return Error{Errc::refused, concat("no agent is expected on host ", hello.host)};
  }
  auto events = welcome(hello.host, std::move(line));
  Host& host = hosts_[hello.host];
  if (std::exchange(host.awaited, false)) {
    host.came_back = true;
    events_.came_back(hello.host, hello.running);
  }
  return events;
}

net::Connection::Events Hosts::welcome(std::size_t number, Door::Line line) {
  Host& host = hosts_[number];
  set_timer(host, calls_within, [this, number] { lose(number, "its agent does not get ready"); });
  host.leaving = host.left = false;
  host.line = std::move(line);
  host.heard_at = now();
  host.output_taken = 0;
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

}  // namespace piracema::cluster
