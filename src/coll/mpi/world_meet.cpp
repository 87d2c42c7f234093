// How the ranks of a job meet: who is on which host, and where their links are measured.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>

#include "base/fd.h"
#include "base/text.h"
#include "coll/mpi/group.h"
#include "coll/plan/addresses.h"

namespace piracema::coll::mpi {

namespace {

/// What ranks tell each other first.
struct Hello {
  sockaddr_in address{};
  std::uint64_t token = 0;
  char host[96] = {};
  bool has_socket = false, has_threads = false;
  HostAddress addresses[host_addresses_max];
  cpu_set_t cores;
};

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

/// By which address others reach this host, now that all are known.
in_addr_t own_address(const Hello& mine, const std::vector<Hello>& all) {
  const auto of = [](const Hello& hello) {
    return std::vector<HostAddress>(std::begin(hello.addresses), std::end(hello.addresses));
  };
  // A host counts once, however many ranks it has.
  std::map<std::string, std::vector<HostAddress>> others;
  for (const Hello& hello : all) {
    if (std::strcmp(hello.host, mine.host) != 0) others.emplace(hello.host, of(hello));
  }
  std::vector<std::vector<HostAddress>> hosts;
  for (auto& [host, addresses] : others) hosts.push_back(std::move(addresses));
  if (const auto chosen = choose_address(of(mine), hosts, route)) return htonl(*chosen);
  return htonl(mine.addresses[0].address != 0 ? mine.addresses[0].address : INADDR_LOOPBACK);
}

Waiting waiting_of(const Hello& mine, const std::vector<Hello>& all) {
  Waiting waiting{0, 0};
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (const Hello& hello : all) {
    if (std::strcmp(hello.host, mine.host) != 0) continue;
    waiting.ranks += 1;
    CPU_OR(&cores, &cores, &hello.cores);
  }
  waiting.cores = static_cast<unsigned>(CPU_COUNT(&cores));
  return waiting;
}

/// Each host once, by its name, in the order of their lowest ranks.
void name_hosts(const std::vector<Hello>& all, JobFigures& figures) {
  std::map<std::string, std::uint32_t> places;
  for (const Hello& hello : all) {
    const std::string host(hello.host, ::strnlen(hello.host, sizeof hello.host));
    const auto [found, is_new] =
        places.emplace(host, static_cast<std::uint32_t>(figures.hosts.size()));
    if (is_new) figures.hosts.push_back(host.substr(0, host.find(' ')));
    figures.host_of.push_back(found->second);
  }
}

std::uint64_t draw_token() {
  std::uint64_t token = static_cast<std::uint64_t>(now().count());
  std::ifstream("/dev/urandom", std::ios::binary)
      .read(reinterpret_cast<char*>(&token), sizeof token);
  return token;
}

extern "C" int delete_group(MPI_Comm, int, void* group, void*) {
  return Group::destroy(static_cast<Group*>(group));
}

}  // namespace

std::string World::meet(JobFigures& figures) {
  if (!settings_.emulate.empty()) {
    if (auto checked = Emulator::check(settings_.emulate, size_); !checked) {
      give_up(checked.error().message);
    }
  }
  PMPI_Comm_dup(MPI_COMM_WORLD, &own_);
  Hello hello;
  hello.token = draw_token();
  name_host(hello.host);
  hello.address.sin_family = AF_INET;
  const auto addresses = own_addresses(settings_.interface);
  if (!settings_.interface.empty() && addresses.empty()) {
    give_up(
        concat("PIRACEMA_COLL_INTERFACE: want an interface that is up or its IPv4 address, found '",
               settings_.interface, "'"));
  }
  std::copy(addresses.begin(), addresses.end(), hello.addresses);
  CPU_ZERO(&hello.cores);
  ::sched_getaffinity(0, sizeof hello.cores, &hello.cores);
  auto socket = ProbeThread::open(hello.address);
  hello.has_socket = socket.ok();
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  hello.has_threads = level == MPI_THREAD_MULTIPLE;
  std::vector<Hello> all(size_);
  PMPI_Allgather(&hello, sizeof hello, MPI_BYTE, all.data(), sizeof hello, MPI_BYTE, own_);
  const bool one_host = std::all_of(all.begin(), all.end(), [&](const Hello& other) {
    return std::strcmp(other.host, hello.host) == 0;
  });
  waiting_ = waiting_of(hello, all);
  name_hosts(all, figures);
  const bool sockets =
      std::all_of(all.begin(), all.end(), [](const Hello& other) { return other.has_socket; });
  const bool emulating = !settings_.emulate.empty();
  // Whoever wants the same order each time has it on one host, too.
  if (settings_.engine == Engine::automatic && !settings_.fixed_order &&
      ((one_host && !emulating) || !sockets)) {
    PMPI_Comm_free(&own_);
    return one_host && !emulating ? "one host" : "a rank has no UDP socket to measure links by";
  }
  if (settings_.engine != Engine::mst &&
      std::all_of(all.begin(), all.end(), [](const Hello& other) { return other.has_threads; })) {
    progress_ = std::make_unique<Progress>();
    figures.nonblocking = true;
  }
  PMPI_Comm_group(MPI_COMM_WORLD, &group_);
  PMPI_Comm_dup(MPI_COMM_SELF, &alone_);
  PMPI_Comm_set_errhandler(alone_, MPI_ERRORS_RETURN);
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_group, &keyval_, nullptr);
  if (emulating) emulator_ = std::make_unique<Emulator>(settings_.emulate, me_, size_);
  if (sockets && settings_.engine != Engine::binomial) {
    // What a rank has chosen is of use to others, who see it from elsewhere.
    hello.address.sin_addr.s_addr = own_address(hello, all);
    std::vector<in_addr_t> chosen(size_);
    PMPI_Allgather(&hello.address.sin_addr.s_addr, sizeof(in_addr_t), MPI_BYTE, chosen.data(),
                   sizeof(in_addr_t), MPI_BYTE, own_);
    for (Rank rank = 0; rank < size_; ++rank) all[rank].address.sin_addr.s_addr = chosen[rank];
    std::vector<sockaddr_in> peers;
    for (const Hello& other : all) {
      peers.push_back(other.address);
      // Ranks of one host talk over loopback, whatever addresses the host has.
      if (std::strcmp(other.host, hello.host) == 0) {
        peers.back().sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      }
    }
    probes_ = std::make_unique<ProbeThread>(*std::move(socket), me_, std::move(peers), all[0].token,
                                            emulator_.get());
  }
  return {};
}

}  // namespace piracema::coll::mpi
