#include "cluster/driver/followed_hosts.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "host/host_names.h"

namespace piracema::cluster {

FollowedHosts::FollowedHosts(net::Poller& poller, JobOptions& options, Hosts& hosts, Places& places,
                             Events events)
    : poller_(poller),
      options_(options),
      hosts_(hosts),
      places_(places),
      events_(std::move(events)) {
  const auto told = [this, &poller](std::vector<ListedHost> all) {
    poller.post([this, all = std::move(all)] { listed(all); });
  };
  const auto unusable = [&poller](const std::string& why) {
    poller.post([why] { log(Level::warning, concat("hosts stay as they are: ", why)); });
  };
  watch_ =
      std::make_unique<HostfileWatch>(options.watched_hostfile, options.hosts,
                                      HostfileWatch::Events{.changed = told, .unusable = unusable});
}

void FollowedHosts::stop() { watch_.reset(); }

void FollowedHosts::listed(const std::vector<ListedHost>& hosts) {
  if (!watch_) return;
  for (std::size_t number = 0; number < options_.hosts.size(); ++number) {
    const HostOptions& host = options_.hosts[number];
    const auto found = std::find_if(hosts.begin(), hosts.end(), [&](const ListedHost& one) {
      return one.host.name == host.name;
    });
    const bool wanted = found != hosts.end();
    if (wanted == hosts_.is_wanted(number)) continue;
    hosts_.want(number, wanted);
    log(Level::info, concat(described(host), wanted ? " is used again" : " is draining"));
    if (wanted) places_.share_with(number, found->places);
  }
  const std::size_t before = options_.hosts.size();
  for (const ListedHost& one : hosts) {
    const bool known = std::any_of(options_.hosts.begin(), options_.hosts.end(),
                                   [&](const auto& host) { return host.name == one.host.name; });
    if (known) continue;
    options_.hosts.push_back(one.host);
    options_.hosts.back().named_at = options_.watched_hostfile;
    hosts_.add();
    places_.share_with(options_.hosts.size() - 1, one.places);
  }
  // An agent is known by the number of its host: first it is decided that it has it.
  if (!events_.decide(all())) return;
  for (std::size_t number = before; number < options_.hosts.size(); ++number) {
    log(Level::info, concat("host ", options_.hosts[number].name, " is called, to take part"));
    hosts_.call_added(number);
  }
  events_.changed();
}

void FollowedHosts::more_slots() {
  poller_.post([this] {
    if (watch_) events_.decide(all());
  });
}

HostsOfJob FollowedHosts::all() const {
  HostsOfJob all;
  for (std::size_t number = 0; number < options_.hosts.size(); ++number) {
    const HostOptions& host = options_.hosts[number];
    all.hosts.push_back({host.name, host.address, hosts_.is_wanted(number)});
  }
  for (const std::size_t host : places_.homes()) {
    all.home_of_slot.push_back(static_cast<std::uint32_t>(host));
  }
  return all;
}

void use_hosts(const HostsOfJob& left, JobOptions& options) {
  options.hosts.clear();
  options.host_of_slot.assign(left.home_of_slot.begin(), left.home_of_slot.end());
  options.environments.clear();
  for (const HostOfJob& host : left.hosts) {
    options.hosts.push_back(host_known_as(host.name, host.address));
    options.hosts.back().named_at = options.watched_hostfile;
  }
  for (const std::uint32_t host : left.home_of_slot) {
    options.environments.push_back(
        {"PIRACEMA_LISTEN=" + with_port(options.hosts[host].address, 0)});
  }
}

}  // namespace piracema::cluster
