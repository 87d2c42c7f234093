#include "cluster/driver/host_standing.h"

#include <doctest/doctest.h>

#include <string>

using namespace piracema;
using namespace piracema::cluster;
using Known = HostStanding::Known;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

const JobSettings standing_settings = [] {
  JobSettings settings;
  settings.heartbeat_interval = milliseconds(100);
  settings.heartbeat_timeout = milliseconds(1'000);
  return settings;
}();

std::string name_of(const HostStanding& host, Time now) {
  return host.name(now, standing_settings);
}

/// A host whose agent has come at the beginning of time, and is ready.
HostStanding up(bool here = false) {
  HostStanding host(here, Known::expected);
  host.agent_comes(Time{});
  host.agent_ready();
  return host;
}

}  // namespace

TEST_CASE("a host is called, here, and lost, and is known from then on") {
  HostStanding host(false, Known::expected);
  CHECK(name_of(host, Time{}) == "called");
  host.agent_comes(Time{});
  CHECK_FALSE(host.is_up());
  CHECK(host.agent_ready() == Known::expected);
  CHECK(host.is_up());
  CHECK(name_of(host, Time{}) == "here");
  CHECK_FALSE(host.agent_lost());
  CHECK(name_of(host, Time{}) == "lost");
  host.agent_comes(Time{});
  CHECK(host.agent_ready() == Known::been_up);
}

TEST_CASE("another machine that was not heard just now gets no processes, and is silent later") {
  HostStanding host = up();
  CHECK(host.can_start(milliseconds(299), standing_settings));
  CHECK_FALSE(host.can_start(milliseconds(300), standing_settings));
  CHECK_FALSE(host.is_silent(milliseconds(2'000), standing_settings));
  CHECK(host.is_silent(milliseconds(2'001), standing_settings));
  CHECK(name_of(host, milliseconds(2'001)) == "silent");
  host.heard(milliseconds(2'001));
  CHECK(host.can_start(milliseconds(2'001), standing_settings));
}

TEST_CASE("what was not listened to is no silence") {
  HostStanding host = up();
  host.nobody_listened(seconds(5));
  CHECK(host.silent_for(seconds(5)) == Time{});
}

TEST_CASE("this machine gets processes, however long it says nothing") {
  CHECK(up(true).can_start(seconds(100), standing_settings));
}

TEST_CASE("a host that the job does not want, or whose agent was told to leave, is draining") {
  HostStanding host = up();
  CHECK_FALSE(host.want(false));
  CHECK(host.is_draining());
  CHECK_FALSE(host.can_start(Time{}, standing_settings));
  CHECK(name_of(host, Time{}) == "draining");
  CHECK(host.want(true));
  CHECK_FALSE(host.want(true));
  CHECK_FALSE(host.is_draining());

  CHECK(host.told_to_leave());
  CHECK_FALSE(host.told_to_leave());
  CHECK(host.is_draining());
  host.agent_lost();
  CHECK(name_of(host, Time{}) == "drained");
  // The next agent was not told.
  host.agent_comes(Time{});
  CHECK_FALSE(host.is_draining());
}

TEST_CASE("an agent that was sent away is not up again, whatever it says or how it ends") {
  HostStanding host = up();
  CHECK(host.send_away());
  CHECK_FALSE(host.send_away());
  host.agent_ready();
  CHECK_FALSE(host.is_up());
  host.begin_to_end();
  CHECK(host.was_sent_away());
  CHECK(host.agent_lost());
  CHECK_FALSE(host.was_sent_away());
}

TEST_CASE("an agent ends by its connection and its process, in any order") {
  HostStanding host = up(true);
  host.line_ended();
  CHECK(host.has_line_ended());
  CHECK_FALSE(host.is_up());
  CHECK_FALSE(host.agent_lost());
  CHECK_FALSE(host.has_line_ended());

  host = up(true);
  host.begin_to_end();
  host.process_ended("killed by signal 9");
  CHECK(host.has_process_ended());
  CHECK(host.how_process_ended() == "killed by signal 9");
  host.agent_lost();
  CHECK_FALSE(host.has_process_ended());
}

TEST_CASE("the agent of the coordinator before is awaited, and comes or is given up") {
  HostStanding host(false, Known::expected);
  host.await_former();
  CHECK(host.awaits_former());
  CHECK(host.known() == Known::been_up);
  HostStanding other = host;
  host.former_comes();
  CHECK(host.former_came());
  CHECK_FALSE(host.awaits_former());
  other.give_up_former();
  CHECK_FALSE(other.former_came());
  CHECK_FALSE(other.awaits_former());
}

TEST_CASE("a host is steady when it could start processes each time that was looked at") {
  HostStanding host = up();
  Time at{};
  const auto look_until = [&](Time end) {
    for (; at < end; at += milliseconds(100)) {
      host.heard(at);
      host.look(at, standing_settings);
    }
  };
  look_until(seconds(1));
  CHECK(host.is_steady(at, standing_settings));
  // A gap: it is on trial.
  at += seconds(2);
  host.look(at, standing_settings);
  host.heard(at);
  host.look(at, standing_settings);
  CHECK(host.can_start(at, standing_settings));
  CHECK_FALSE(host.is_steady(at, standing_settings));
  look_until(at + seconds(60));
  CHECK(host.is_steady(at, standing_settings));
}
