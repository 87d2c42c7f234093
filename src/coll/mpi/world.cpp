#include "coll/mpi/world.h"

#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "base/hint.h"
#include "base/log.h"
#include "base/text.h"
#include "coll/mpi/final_count.h"
#include "coll/mpi/group.h"
#include "coll/mpi/introductions.h"
#include "coll/mpi/probe/mst_runner.h"
#include "coll/mpi/probe/seen.h"
#include "coll/mpi/report.h"

namespace piracema::coll::mpi {

namespace {

std::atomic<World*> the_world{nullptr};
std::optional<Job> the_job;
/// Of rank 0, if somebody looks on. A program that ends without MPI_Finalize leaves it as it is.
FiguresWriter* the_figures = nullptr;

/// Settings that all have to share: those of rank 0.
struct Shared {
  Engine engine;
  unsigned adapt_every;
  double threshold;
  bool fixed_order, any_order, shows;
};

/// What a job has from its beginning.
JobFigures first_figures(const Job& job) {
  JobFigures figures;
  figures.engine = name_of(job.settings.engine);
  figures.ranks = job.size;
  figures.process = static_cast<std::uint32_t>(::getpid());
  figures.emulates = !job.settings.emulate.empty();
  char text[std::max(MPI_MAX_LIBRARY_VERSION_STRING, 8'192)] = {};
  int length = 0;
  PMPI_Get_library_version(text, &length);
  figures.mpi = std::string_view(text).substr(0, std::string_view(text).find_first_of(",\n"));
  std::replace(figures.mpi.begin(), figures.mpi.end(), '\t', ' ');
  figures.mpi.resize(std::min(figures.mpi.size(), JobFigures::text_bytes_max));
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  figures.host = name;
  return figures;
}

/// Who started the ranks reads what they say from a pipe, and may drop the rest once one of them
/// aborts, as MPICH's does. A pipe does not tell when it is empty, so this looks.
void let_be_read(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0 || !S_ISFIFO(status.st_mode)) return;
  for (int i = 0; i < 500; ++i) {
    int unread = 0;
    if (::ioctl(fd, FIONREAD, &unread) != 0 || unread == 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

extern "C" int delete_group(MPI_Comm, int, void* group, void*) {
  return Group::destroy(static_cast<Group*>(group));
}

}  // namespace

void give_up(const std::string& why) {
  log(Level::error, why);
  let_be_read(STDERR_FILENO);
  PMPI_Abort(MPI_COMM_WORLD, 3);
  std::_Exit(3);
}

void World::expect_own_mpi() {
  // It is the other MPI that writes there, and MPICH's words are longer than Open MPI has room for.
  char text[std::max(MPI_MAX_LIBRARY_VERSION_STRING, 8'192)] = {};
  int length = 0;
  PMPI_Get_library_version(text, &length);
  const std::string_view version(text);
  const bool open_mpi = version.find("Open MPI") != version.npos;
#ifdef OPEN_MPI
  constexpr bool wants_open_mpi = true;
#else
  // MPICH has many names; all have its ABI.
  constexpr bool wants_open_mpi = false;
#endif
  if (open_mpi == wants_open_mpi) return;
  log(Level::error,
      concat("this libpiracema_coll.so is for ", wants_open_mpi ? "Open MPI" : "MPICH",
             ", and the program's MPI is ", version.substr(0, version.find_first_of(",\n")),
             "; preload the other one"));
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
  Shared shared{settings->engine,      settings->adapt_every, settings->threshold,
                settings->fixed_order, settings->any_order,   !settings->figures.empty()};
  PMPI_Bcast(&shared, sizeof shared, MPI_BYTE, 0, MPI_COMM_WORLD);
  settings->engine = shared.engine;
  settings->adapt_every = shared.adapt_every;
  settings->threshold = shared.threshold;
  settings->fixed_order = shared.fixed_order;
  settings->any_order = shared.any_order;
  if (!settings->started.empty()) std::ofstream(settings->started, std::ios::app).flush();
  Job& job =
      the_job.emplace(Job{*settings, static_cast<Rank>(me), static_cast<Rank>(size), {}, now()});
  if (size < 2) job.left_alone = "a single rank";
  if (settings->engine == Engine::native) job.left_alone = "engine native";
  if (static_cast<Rank>(size) > link_map_ranks_max) {
    job.left_alone = concat("more than ", link_map_ranks_max, " ranks");
  }
  const bool shows = me == 0 && !settings->figures.empty();
  JobFigures figures;
  if (shows) figures = first_figures(job);
  std::unique_ptr<World> world;
  if (job.left_alone.empty()) {
    world.reset(new World(*std::move(settings), static_cast<Rank>(me), static_cast<Rank>(size)));
    job.left_alone = world->meet(figures);
  }
  if (shows) {
    figures.left_alone = job.left_alone;
    the_figures = new FiguresWriter(job.settings.figures, std::move(figures));
  }
  if (!job.left_alone.empty()) return;
  world->figures_ = the_figures;
  World* begun = world.release();
  the_world.store(begun, std::memory_order_release);
  // Made here, where all wait for all anyway, it is there for nonblocking operations, too.
  const Group* all = Group::of(*begun, MPI_COMM_WORLD);
  const MstRunner* mst = all ? all->mst() : nullptr;
  if (shared.shows && mst) {
    begun->tree_news_ =
        std::make_unique<TreeNews>(*begun->probes(), *mst, begun->me_, begun->size_);
  }
  if (the_figures) the_figures->look_at(begun->probes(), mst, begun->tree_news_.get());
}

std::string World::meet(JobFigures& figures) {
  const bool emulating = !settings_.emulate.empty();
  if (emulating) {
    if (auto checked = Emulator::check(settings_.emulate, size_); !checked) {
      give_up(checked.error().message);
    }
  }
  PMPI_Comm_dup(MPI_COMM_WORLD, &own_);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  auto socket = PacketSocket::open(address);
  Introductions all(own_, me_, size_, settings_.interface, address, socket.ok());
  waiting_ = all.waiting();
  all.name_hosts(figures);
  const bool one_host = all.on_one_host(), sockets = all.all_have_sockets();
  // Whoever wants the same order each time has it on one host, too.
  if (settings_.engine == Engine::automatic && !settings_.fixed_order &&
      ((one_host && !emulating) || !sockets)) {
    PMPI_Comm_free(&own_);
    return one_host && !emulating ? "one host" : "a rank has no UDP socket to measure links by";
  }
  if (settings_.engine != Engine::mst && all.all_have_threads()) {
    progress_ = std::make_unique<Progress>();
    figures.nonblocking = true;
  }
  PMPI_Comm_group(MPI_COMM_WORLD, &group_);
  PMPI_Comm_dup(MPI_COMM_SELF, &alone_);
  PMPI_Comm_set_errhandler(alone_, MPI_ERRORS_RETURN);
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_group, &keyval_, nullptr);
  if (emulating) emulator_ = std::make_unique<Emulator>(settings_.emulate, me_, size_);
  if (sockets && settings_.engine != Engine::binomial) {
    probes_ = std::make_unique<ProbeThread>(*std::move(socket), me_, all.exchange_addresses(),
                                            all.token(), emulator_.get());
  }
  return {};
}

void World::end() {
  World* world = the_world.exchange(nullptr, std::memory_order_acq_rel);
  if (!the_job) return;
  // It reads what is taken down below.
  delete std::exchange(the_figures, nullptr);
  if (world == nullptr) {
    if (the_job->me == 0) {
      if (!the_job->settings.report.empty()) {
        auto written = write_report(*the_job, nullptr, {}, {});
        if (!written) {
          log(Level::warning, written.error().message);
        }
      }
      say(*the_job, nullptr);
    }
    the_job.reset();
    return;
  }
  world->figures_ = nullptr;
  world->progress_.reset();
  for (Group* group : world->groups_) group->windows().leave();
  world->report(*the_job);
  if (world->me_ == 0) say(*the_job, world);
  the_job.reset();
  const Time until = now() + Group::drain_takes_most;
  for (Group* group : world->groups_) group->windows().drain(until, true);
  // Somebody who still waits for a tree gets it from those who have it.
  if (world->settings_.engine == Engine::mst) PMPI_Barrier(world->own_);
  world->tree_news_.reset();
  world->probes_.reset();
  PMPI_Comm_free(&world->own_);
  PMPI_Comm_free(&world->alone_);
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
int World::groups() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(groups_.size());
}
void World::note_tree(std::string line) {
  const std::lock_guard lock(mutex_);
  // A network that trembles for days must not fill the memory.
  if (trees_.size() < 10'000) trees_.push_back(std::move(line));
}

void World::report(const Job& job) {
  // All have the setting of their own environment; rank 0's counts.
  int wanted = !settings_.report.empty();
  PMPI_Bcast(&wanted, 1, MPI_INT, 0, own_);
  if (wanted == 0) return;
  std::string lines;
  for (const std::string& line : trees_) lines += line;
  const FinalCount count(own_, me_, size_, groups_);
  const std::string all = count.text(lines);
  const Totals totals = count.totals(settings_.engine, probes_.get());
  if (me_ != 0) return;
  if (auto written = write_report(job, probes_.get(), totals, all); !written) {
    log(Level::warning, written.error().message);
  }
}

void World::say(const Job& job, const World* world) {
  if (!job.settings.summary) return;
  std::string line = concat("intercepted ", seen.intercepted.load(), " of ", seen.calls.load(),
                            " collective calls of rank 0, ", seen.ours.load(), " along trees");
  if (!job.left_alone.empty()) line += concat(": ", job.left_alone, ", left alone");
  log(Level::info, line);
  if (world == nullptr) return;
  std::size_t measured = 0;
  if (world->probes_) world->probes_->links(&measured);
  if (measured == 0 && job.settings.engine != Engine::binomial) {
    log(Level::warning,
        "no link was measured: the job was too short, or UDP is shut out between its hosts; trees "
        "did not follow the network");
  }
  double gained = 0;
  for (Group* group : world->groups_) {
    if (group->windows().spent() != nullptr) gained += group->windows().spent()->gained();
    const Group::MstUse& use = group->mst_use();
    const std::uint64_t before = use.binomial + use.own_view;
    if (before == 0) continue;
    log(Level::info,
        concat(before, " broadcasts of rank 0 went before the first round of engine mst was over: ",
               use.binomial, " along a binomial tree, ", use.own_view, " along one of its own"));
  }
  if (gained < 0) {
    char ms[32];
    std::snprintf(ms, sizeof ms, "%.1f", -gained * 1e3);
    log(Level::warning, with_hint(concat("trees took ", std::string_view(ms),
                                         " ms longer than the MPI library's own collectives, as "
                                         "measured"),
                                  "--engine native leaves all to it"));
  }
}

}  // namespace piracema::coll::mpi
