#include "cluster/driver/followed_hosts.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"

namespace piracema::cluster {

FollowedHosts::FollowedHosts(net::Poller& poller, JobOptions& options, Hosts& hosts, Places& places,
                             std::function<void()> changed)
    : options_(options), hosts_(hosts), places_(places), changed_(std::move(changed)) {
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
  for (const ListedHost& one : hosts) {
    const bool known = std::any_of(options_.hosts.begin(), options_.hosts.end(),
                                   [&](const auto& host) { return host.name == one.host.name; });
    if (!known) add(one);
  }
  changed_();
}

void FollowedHosts::add(const ListedHost& host) {
  options_.hosts.push_back(host.host);
  options_.hosts.back().named_at = options_.watched_hostfile;
  log(Level::info, concat("host ", host.host.name, " is called, to take part"));
  hosts_.add();
  places_.share_with(options_.hosts.size() - 1, host.places);
}

}  // namespace piracema::cluster
