#include "host/host_names.h"

#include <ifaddrs.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "base/fd.h"
#include "base/no_signals.h"
#include "base/text.h"
#include "host/own_host.h"
#include "net/socket/address.h"

namespace piracema::cluster {

namespace {

constexpr std::chrono::seconds found_within{5};

std::string numeric(const sockaddr* address, socklen_t size) {
  sockaddr_storage storage{};
  std::copy_n(reinterpret_cast<const char*>(address), size, reinterpret_cast<char*>(&storage));
  return net::Address(storage).host();
}

Result<std::string> look_up_now(const std::string& name) {
  // "[::1]", as it stands before a port.
  const bool bare = name.starts_with('[') && name.ends_with(']');
  const std::string host = bare ? name.substr(1, name.size() - 2) : name;
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(host.c_str(), nullptr, &wanted, &found);
  if (failed != 0) return Error{Errc::config, ::gai_strerror(failed)};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> freed(found, ::freeaddrinfo);
  return numeric(found->ai_addr, found->ai_addrlen);
}

// A name server that does not answer keeps getaddrinfo for half a minute; its thread is left alone
// then, and owns what it uses.
Result<std::string> look_up(const std::string& name) {
  auto promise = std::make_shared<std::promise<Result<std::string>>>();
  auto answer = promise->get_future();
  const NoSignals no_signals;
  std::thread([promise, name] { promise->set_value(look_up_now(name)); }).detach();
  if (answer.wait_for(found_within) == std::future_status::ready) return answer.get();
  return Error{Errc::config, concat("no name server answers within ", found_within.count(), " s")};
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

/// All of this machine, those of IPv4 first.
std::vector<std::string> own_addresses() {
  std::vector<std::string> found;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return found;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> freed(all, ::freeifaddrs);
  for (const int family : {AF_INET, AF_INET6}) {
    const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
      if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != family) continue;
      found.push_back(numeric(one->ifa_addr, size));
    }
  }
  return found;
}

bool is_ours(const std::string& address) {
  const auto own = own_addresses();
  return is_loopback(address) || std::find(own.begin(), own.end(), address) != own.end();
}

bool is_own_name(const std::string& name) { return name == "localhost" || name == own_host(); }

// A node of a cluster has a name there, and several may be on one machine.
bool is_this_machine(const std::string& name, const std::string& address) {
  const char* const own = std::getenv("PIRACEMA_NODE");
  return own != nullptr ? name == own : is_ours(address);
}

Result<HostOptions> find_host(const HostName& wanted) {
  if (const auto equals = wanted.name.find('='); equals != std::string::npos) {
    const std::string name = wanted.name.substr(0, equals);
    auto address = look_up(wanted.name.substr(equals + 1));
    if (name.empty() || !address) {
      return Error{Errc::config,
                   concat(wanted.named_at, ": want NAME=ADDRESS, found '", wanted.name, "'",
                          address ? "" : concat(": ", address.error().message))};
    }
    const bool here = is_this_machine(name, *address);
    return HostOptions{name, *std::move(address), here, wanted.named_at};
  }
  if (wanted.here.value_or(is_own_name(wanted.name)))
    return HostOptions{wanted.name, "127.0.0.1", true, wanted.named_at};
  auto address = look_up(wanted.name);
  if (!address) {
    return Error{Errc::config, concat(wanted.named_at, ": want a host that is known, found '",
                                      wanted.name, "': ", address.error().message)};
  }
  const bool here = wanted.here.value_or(is_ours(*address));
  return HostOptions{wanted.name, *std::move(address), here, wanted.named_at};
}

}  // namespace

std::string described(const HostOptions& host) {
  return host.named_at.empty() ? host.name : concat("host ", host.name);
}

std::string own_host() {
  char own[256] = "";
  ::gethostname(own, sizeof own - 1);
  return own;
}

Result<std::vector<HostOptions>> find_hosts(const std::vector<HostName>& names,
                                            std::vector<std::size_t>& numbers) {
  std::vector<HostOptions> hosts;
  numbers.clear();
  for (const HostName& wanted : names) {
    auto same = std::find_if(hosts.begin(), hosts.end(), [&](const HostOptions& host) {
      return host.name == wanted.name.substr(0, wanted.name.find('='));
    });
    if (same == hosts.end()) {
      auto host = find_host(wanted);
      if (!host) return host.error();
      same = hosts.insert(hosts.end(), *std::move(host));
    }
    numbers.push_back(static_cast<std::size_t>(same - hosts.begin()));
  }
  const auto other =
      std::find_if(hosts.begin(), hosts.end(), [](const HostOptions& host) { return !host.here; });
  for (HostOptions& host : hosts) {
    if (!host.here || other == hosts.end() || !is_loopback(host.address)) continue;
    auto facing = address_facing(other->address);
    if (!facing) return facing.error();
    host.address = *std::move(facing);
  }
  return hosts;
}

HostOptions host_known_as(const std::string& name, const std::string& address) {
  return {name, address, is_this_machine(name, address), ""};
}

std::string with_port(const std::string& address, std::uint16_t port) {
  const bool v6 = address.find(':') != std::string::npos;
  return concat(v6 ? "[" : "", address, v6 ? "]:" : ":", port);
}

Result<std::string> own_address() {
  if (const char* given = std::getenv("PIRACEMA_ADDRESS"); given != nullptr && *given != '\0') {
    return std::string(given);
  }
  for (const std::string& address : own_addresses()) {
    // Those of a link alone ("fe80:") mean nothing to others.
    if (!is_loopback(address) && !address.starts_with("fe80:")) return address;
  }
  return Error{Errc::config, "want an address that other hosts reach, found loopback's alone"};
}

// Connecting a datagram socket sends nothing; it asks for the route.
Result<std::string> address_facing(const std::string& address) {
  const auto to = net::Address::make(address, 9);
  if (!to) return to.error();
  const Fd socket(::socket(to->family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (!socket || ::connect(socket.get(), to->data(), to->size()) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0) {
    return Error{Errc::config, with_errno(concat("the way to ", address))};
  }
  return net::Address(own).host();
}

}  // namespace piracema::cluster
