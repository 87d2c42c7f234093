#include "coll/mpi/introductions.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>

#include "base/clock.h"
#include "base/fd.h"
#include "base/text.h"
#include "coll/mpi/world.h"

namespace piracema::coll::mpi {

namespace {

/// The host, also when containers share its name.
void name_host(char (&out)[96]) {
  char name[48] = {};
  ::gethostname(name, sizeof name - 1);
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(file, boot);
  std::snprintf(out, sizeof out, "%s %.40s", name, boot.c_str());
}

/// Those of interfaces that are up; loopback's are no way to another host. With `wanted`, the name
/// or address of an interface, only those.
std::vector<HostAddress> own_addresses(const std::string& wanted) {
  std::vector<HostAddress> found;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return found;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    if ((each->ifa_flags & IFF_UP) == 0) continue;
    const auto& address = reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr;
    char text[INET_ADDRSTRLEN] = {};
    ::inet_ntop(AF_INET, &address, text, sizeof text);
    if (wanted.empty() ? (each->ifa_flags & IFF_LOOPBACK) != 0
                       : wanted != each->ifa_name && wanted != text) {
      continue;
    }
    std::uint32_t mask = 0xffffffff;
    if (each->ifa_netmask != nullptr) {
      mask = ntohl(reinterpret_cast<const sockaddr_in*>(each->ifa_netmask)->sin_addr.s_addr);
    }
    if (found.size() < host_addresses_max) found.push_back({ntohl(address.s_addr), mask});
  }
  ::freeifaddrs(all);
  return found;
}

/// What the kernel would send from; nothing is sent.
std::uint32_t route(std::uint32_t to) {
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(9);
  address.sin_addr.s_addr = htonl(to);
  socklen_t length = sizeof address;
  if (socket.get() < 0 ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return 0;
  }
  return ntohl(address.sin_addr.s_addr);
}

std::uint64_t draw_token() {
  std::uint64_t token = static_cast<std::uint64_t>(now().count());
  std::ifstream("/dev/urandom", std::ios::binary)
      .read(reinterpret_cast<char*>(&token), sizeof token);
  return token;
}

}  // namespace

Introductions::Introductions(MPI_Comm comm, Rank me, Rank size, const std::string& interface,
                             const sockaddr_in& address, bool has_socket)
    : comm_(comm), me_(me), all_(size) {
  Hello hello;
  hello.token = draw_token();
  name_host(hello.host);
  hello.address = address;
  const auto addresses = own_addresses(interface);
  if (!interface.empty() && addresses.empty()) {
    give_up(
        concat("PIRACEMA_COLL_INTERFACE: want an interface that is up or its IPv4 address, found '",
               interface, "'"));
  }
  std::copy(addresses.begin(), addresses.end(), hello.addresses);
  CPU_ZERO(&hello.cores);
  ::sched_getaffinity(0, sizeof hello.cores, &hello.cores);
  hello.has_socket = has_socket;
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  hello.has_threads = level == MPI_THREAD_MULTIPLE;
  PMPI_Allgather(&hello, sizeof hello, MPI_BYTE, all_.data(), sizeof hello, MPI_BYTE, comm_);
}

bool Introductions::is_here(const Hello& hello) const {
  return std::strcmp(hello.host, all_[me_].host) == 0;
}

bool Introductions::on_one_host() const {
  return std::all_of(all_.begin(), all_.end(), [&](const Hello& hello) { return is_here(hello); });
}

bool Introductions::all_have_sockets() const {
  return std::all_of(all_.begin(), all_.end(), [](const Hello& hello) { return hello.has_socket; });
}

bool Introductions::all_have_threads() const {
  return std::all_of(all_.begin(), all_.end(),
                     [](const Hello& hello) { return hello.has_threads; });
}

Waiting Introductions::waiting() const {
  Waiting waiting{0, 0};
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (const Hello& hello : all_) {
    if (!is_here(hello)) continue;
    waiting.ranks += 1;
    CPU_OR(&cores, &cores, &hello.cores);
  }
  waiting.cores = static_cast<unsigned>(CPU_COUNT(&cores));
  return waiting;
}

void Introductions::name_hosts(JobFigures& figures) const {
  std::map<std::string, std::uint32_t> places;
  for (const Hello& hello : all_) {
    const std::string host(hello.host, ::strnlen(hello.host, sizeof hello.host));
    const auto [found, is_new] =
        places.emplace(host, static_cast<std::uint32_t>(figures.hosts.size()));
    if (is_new) figures.hosts.push_back(host.substr(0, host.find(' ')));
    figures.host_of.push_back(found->second);
  }
}

// By which address others reach this host, now that all are known.
in_addr_t Introductions::own_address() const {
  const Hello& mine = all_[me_];
  const auto of = [](const Hello& hello) {
    return std::vector<HostAddress>(std::begin(hello.addresses), std::end(hello.addresses));
  };
  // A host counts once, however many ranks it has.
  std::map<std::string, std::vector<HostAddress>> others;
  for (const Hello& hello : all_) {
    if (!is_here(hello)) others.emplace(hello.host, of(hello));
  }
  std::vector<std::vector<HostAddress>> hosts;
  for (auto& [host, addresses] : others) hosts.push_back(std::move(addresses));
  if (const auto chosen = choose_address(of(mine), hosts, route)) return htonl(*chosen);
  return htonl(mine.addresses[0].address != 0 ? mine.addresses[0].address : INADDR_LOOPBACK);
}

// What a rank has chosen is of use to others, who see it from elsewhere.
std::vector<sockaddr_in> Introductions::exchange_addresses() {
  const in_addr_t mine = own_address();
  std::vector<in_addr_t> chosen(all_.size());
  PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, chosen.data(), sizeof mine, MPI_BYTE, comm_);
  std::vector<sockaddr_in> peers;
  for (std::size_t rank = 0; rank < all_.size(); ++rank) {
    peers.push_back(all_[rank].address);
    // Ranks of one host talk over loopback, whatever addresses the host has.
    peers.back().sin_addr.s_addr = is_here(all_[rank]) ? htonl(INADDR_LOOPBACK) : chosen[rank];
  }
  return peers;
}

}  // namespace piracema::coll::mpi
