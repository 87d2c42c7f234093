#include "coll/mpi/world.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "base/text.h"
#include "coll/mpi/group.h"
#include "coll/mpi/report.h"

namespace piracema::coll::mpi {

namespace {

std::atomic<World*> the_world{nullptr};

/// What ranks tell each other first.
struct Hello {
  sockaddr_in address{};
  std::uint64_t token = 0;
  char host[96] = {};
  bool has_socket = false, has_threads = false;
};

/// Settings that all have to share: those of rank 0.
struct Shared {
  Engine engine;
  unsigned adapt_every;
  double threshold;
  bool fixed_order;
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

void give_up(const std::string& why) {
  std::fprintf(stderr, "piracema: error: %s\n", why.c_str());
  PMPI_Abort(MPI_COMM_WORLD, 3);
  std::_Exit(3);
}

World* World::get() { return the_world.load(std::memory_order_acquire); }

World::World(Settings settings, Rank me, Rank size)
    : settings_(std::move(settings)), me_(me), size_(size), begun_(now()) {}

void World::begin() {
  auto settings = read_settings([](const char* name) { return std::getenv(name); });
  if (!settings) give_up(settings.error().message);
  int me = 0, size = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &me);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  Shared shared{settings->engine, settings->adapt_every, settings->threshold,
                settings->fixed_order};
  PMPI_Bcast(&shared, sizeof shared, MPI_BYTE, 0, MPI_COMM_WORLD);
  settings->engine = shared.engine;
  settings->adapt_every = shared.adapt_every;
  settings->threshold = shared.threshold;
  settings->fixed_order = shared.fixed_order;
  if (size < 2 || settings->engine == Engine::native) return;
  if (static_cast<Rank>(size) > link_map_ranks_max) return;
  std::unique_ptr<World> world(
      new World(*std::move(settings), static_cast<Rank>(me), static_cast<Rank>(size)));
  if (!world->meet()) return;
  World* begun = world.release();
  the_world.store(begun, std::memory_order_release);
  // Made here, where all wait for all anyway, it is there for nonblocking operations, too.
  Group::of(*begun, MPI_COMM_WORLD);
}

bool World::meet() {
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
  if (settings_.engine == Engine::automatic && ((one_host && !emulating) || !sockets)) {
    PMPI_Comm_free(&own_);
    return false;
  }
  if (settings_.engine != Engine::mst &&
      std::all_of(all.begin(), all.end(), [](const Hello& other) { return other.has_threads; })) {
    progress_ = std::make_unique<Progress>();
  }
  PMPI_Comm_group(MPI_COMM_WORLD, &group_);
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
  return true;
}

void World::end() {
  World* world = the_world.exchange(nullptr, std::memory_order_acq_rel);
  if (world == nullptr) return;
  world->progress_.reset();
  world->report();
  for (Group* group : world->groups_) group->drain();
  world->probes_.reset();
  PMPI_Comm_free(&world->own_);
  PMPI_Group_free(&world->group_);
  // Groups are still attached to communicators that the program has not freed: they stay.
}

void World::add(Group* group) {
  const std::lock_guard lock(mutex_);
  groups_.insert(group);
}
void World::remove(Group* group) {
  const std::lock_guard lock(mutex_);
  groups_.erase(group);
}
void World::note_tree(std::string line) {
  const std::lock_guard lock(mutex_);
  // A network that trembles for days must not fill the memory.
  if (trees_.size() < 10'000) trees_.push_back(std::move(line));
}

void World::report() {
  // All have the setting of their own environment; rank 0's counts.
  int wanted = !settings_.report.empty();
  PMPI_Bcast(&wanted, 1, MPI_INT, 0, own_);
  if (wanted == 0) return;
  std::string lines;
  for (const std::string& line : trees_) lines += line;
  int length = as_int(lines.size());
  std::vector<int> lengths(size_), places(size_, 0);
  PMPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, own_);
  for (Rank rank = 1; rank < size_; ++rank) places[rank] = places[rank - 1] + lengths[rank - 1];
  std::string all(static_cast<std::size_t>(me_ == 0 ? places.back() + lengths.back() : 0), ' ');
  PMPI_Gatherv(lines.data(), length, MPI_CHAR, all.data(), lengths.data(), places.data(), MPI_CHAR,
               0, own_);
  if (me_ != 0) return;
  if (auto written = write_report(settings_, size_, probes_.get(), all); !written) {
    std::fprintf(stderr, "piracema: warning: %s\n", written.error().message.c_str());
  }
}

}  // namespace piracema::coll::mpi
