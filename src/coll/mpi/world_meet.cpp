// How the ranks of a job meet: who is on which host, and where their links are measured.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "coll/mpi/group.h"

namespace piracema::coll::mpi {

namespace {

/// What ranks tell each other first.
struct Hello {
  sockaddr_in address{};
  std::uint64_t token = 0;
  char host[96] = {};
  bool has_socket = false, has_threads = false;
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

in_addr_t own_address() {
  ifaddrs* all = nullptr;
  in_addr_t found = htonl(INADDR_LOOPBACK);
  if (::getifaddrs(&all) != 0) return found;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    if ((each->ifa_flags & IFF_LOOPBACK) != 0 || (each->ifa_flags & IFF_UP) == 0) continue;
    found = reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr.s_addr;
    break;
  }
  ::freeifaddrs(all);
  return found;
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

std::string World::meet() {
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
  hello.address.sin_addr.s_addr = own_address();
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
  }
  PMPI_Comm_group(MPI_COMM_WORLD, &group_);
  PMPI_Comm_dup(MPI_COMM_SELF, &alone_);
  PMPI_Comm_set_errhandler(alone_, MPI_ERRORS_RETURN);
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_group, &keyval_, nullptr);
  if (emulating) emulator_ = std::make_unique<Emulator>(settings_.emulate, me_, size_);
  if (sockets && settings_.engine != Engine::binomial) {
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
