#include "cluster/driver/host_standing.h"

#include <utility>

namespace piracema::cluster {

bool HostStanding::want(bool wanted) { return !std::exchange(wanted_, wanted) && wanted; }

void HostStanding::await_former() {
  known_ = Known::been_up;
  former_ = Former::awaited;
}

void HostStanding::agent_comes(Time now) {
  agent_ = Agent::preparing;
  leaving_ = false;
  heard_at_ = now;
}

HostStanding::Known HostStanding::agent_ready() {
  if (agent_ != Agent::sent_away) agent_ = Agent::up;
  return std::exchange(known_, Known::been_up);
}

bool HostStanding::told_to_leave() { return !std::exchange(leaving_, true); }

bool HostStanding::send_away() {
  return std::exchange(agent_, Agent::sent_away) != Agent::sent_away;
}

void HostStanding::begin_to_end() {
  if (agent_ != Agent::sent_away) agent_ = Agent::ending;
}

void HostStanding::process_ended(const std::string& how) {
  over_ = Over::process;
  how_it_ended_ = how;
}

void HostStanding::line_ended() {
  begin_to_end();
  over_ = Over::line;
}

bool HostStanding::agent_lost() {
  over_ = Over::nothing;
  return std::exchange(agent_, Agent::none) == Agent::sent_away;
}

const char* HostStanding::name(Time now, const JobSettings& settings) const {
  if (is_draining()) return is_up() ? "draining" : "drained";
  if (is_up()) return is_silent(now, settings) ? "silent" : "here";
  return known_ == Known::been_up ? "lost" : "called";
}

}  // namespace piracema::cluster
