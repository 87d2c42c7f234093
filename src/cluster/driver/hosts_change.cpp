// Hosts that come to a job and leave it while it runs: as a file of them is changed, or as an agent
// is told that its host will be gone soon.
#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "cluster/driver/loop.h"

namespace piracema::cluster {

void DriverLoop::watch_hostfile() {
  const std::string& file = options_.watched_hostfile;
  if (file.empty()) return;
  hostfile_watch_ = std::make_unique<HostfileWatch>(
      file, options_.hosts,
      HostfileWatch::Events{.changed =
                                [this](std::vector<ListedHost> hosts) {
                                  poller_.post(
                                      [this, hosts = std::move(hosts)] { hosts_listed(hosts); });
                                },
                            .unusable =
                                [this](const std::string& why) {
                                  poller_.post([why] {
                                    log(Level::warning, concat("hosts stay as they are: ", why));
                                  });
                                }});
}

void DriverLoop::hosts_listed(const std::vector<ListedHost>& listed) {
  if (finish_) return;
  for (std::size_t number = 0; number < options_.hosts.size(); ++number) {
    const HostOptions& host = options_.hosts[number];
    const auto found = std::find_if(listed.begin(), listed.end(), [&](const ListedHost& one) {
      return one.host.name == host.name;
    });
    const bool wanted = found != listed.end();
    if (wanted == hosts_->is_wanted(number)) continue;
    hosts_->want(number, wanted);
    log(Level::info, concat(described(host), wanted ? " is used again" : " is to be left"));
    if (wanted) places_->share_with(number, found->places);
  }
  for (const ListedHost& one : listed) {
    const bool known = std::any_of(options_.hosts.begin(), options_.hosts.end(),
                                   [&](const auto& host) { return host.name == one.host.name; });
    if (!known) add_host(one);
  }
  look_at_hosts();
}

void DriverLoop::add_host(const ListedHost& host) {
  options_.hosts.push_back(host.host);
  options_.hosts.back().named_at = options_.watched_hostfile;
  const std::size_t number = options_.hosts.size() - 1;
  log(Level::info, concat("host ", host.host.name, " is called, to take part"));
  hosts_->add();
  places_->share_with(number, host.places);
}

// What has nowhere else to go stays until the host is gone. Where no snapshots are taken nobody can
// go anywhere, and whoever has told the agent to leave is not kept waiting.
void DriverLoop::leave_those_without_work() {
  const bool can_move = !options_.snapshots.empty();
  for (std::size_t host = 0; host < options_.hosts.size(); ++host) {
    if (!hosts_->is_to_be_left(host)) continue;
    if (crew_.count_on(host) == 0 || !can_move) hosts_->let_leave(host);
  }
}

}  // namespace piracema::cluster
