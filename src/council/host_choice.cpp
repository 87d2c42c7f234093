#include "council/host_choice.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace piracema::council {

namespace {

using cluster::HostOptions;

bool means_each_machine(const std::string& name) {
  return name == "localhost" || name.starts_with("127.") || name == "::1" || name == "[::1]";
}

}  // namespace

bool are_all_here(const std::vector<HostOptions>& hosts) {
  return std::all_of(hosts.begin(), hosts.end(), [](const HostOptions& host) { return host.here; });
}

Result<std::string> own_address_in(const std::vector<HostOptions>& hosts) {
  const auto other =
      std::find_if(hosts.begin(), hosts.end(), [](const HostOptions& host) { return !host.here; });
  if (other == hosts.end()) return hosts.empty() ? "127.0.0.1" : hosts.front().address;
  for (const HostOptions& host : hosts) {
    if (host.here) return host.address;
  }
  return cluster::address_facing(other->address);
}

std::vector<HostOptions> hosts_for_another(const std::vector<HostOptions>& hosts,
                                           std::vector<std::string> taken,
                                           const std::string& lost) {
  std::vector<HostOptions> found, last;
  if (are_all_here(hosts)) return found;
  for (const HostOptions& host : hosts) {
    if (std::find(taken.begin(), taken.end(), host.address) != taken.end()) continue;
    taken.push_back(host.address);
    (host.address == lost ? last : found).push_back(host);
  }
  found.insert(found.end(), last.begin(), last.end());
  return found;
}

Result<HostChoice> choose_hosts(const std::vector<HostOptions>& hosts, std::uint32_t count) {
  if (are_all_here(hosts)) return HostChoice{"127.0.0.1", {}};
  auto here = own_address_in(hosts);
  if (!here) return here.error();
  HostChoice choice{*std::move(here), {}};
  // Two names may be one machine, which is lost as a whole.
  std::string found = choice.here;
  for (const HostOptions& host : hosts) {
    if (host.here && means_each_machine(host.name)) {
      return Error{Errc::config, concat(host.named_at, ": '", host.name,
                                        "' is another machine on each host: want a name that "
                                        "means this one to the coordinators there, too")};
    }
    const bool is_known =
        std::any_of(choice.elsewhere.begin(), choice.elsewhere.end(),
                    [&](const HostOptions& one) { return one.address == host.address; });
    if (host.here || is_known || choice.elsewhere.size() + 1 == count) continue;
    choice.elsewhere.push_back(host);
    found += concat(", ", host.name);
  }
  if (choice.elsewhere.size() + 1 == count) return choice;
  return Error{Errc::config,
               concat("--coordinators ", count, ": want as many machines, this one and ", count - 1,
                      " others of the job, found ", choice.elsewhere.size() + 1, ": ", found)};
}

}  // namespace piracema::council
