#include "cluster/ranks.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"
#include "cluster/driver/driver.h"
#include "cluster/worker_process.h"
#include "host/host_names.h"
#include "net/socket/mpi_world.h"
#include "observe/http/job_pages.h"
#include "observe/http/server.h"

namespace piracema::cluster {

namespace {

int refuse(const Error& error) {
  log(Level::error, error.message);
  return error.code == Errc::config ? 3 : 1;
}

std::uint32_t number_in_environment(std::initializer_list<const char*> names,
                                    std::uint32_t otherwise) {
  for (const char* name : names) {
    if (const char* text = std::getenv(name)) return static_cast<std::uint32_t>(std::atoi(text));
  }
  return otherwise;
}

std::uint32_t ranks_in_environment() {
  return number_in_environment({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}, 1);
}

// Before MPI has begun; if mpirun does not say, there is one host.
bool are_on_several_hosts() {
  const std::uint32_t all = ranks_in_environment();
  return number_in_environment({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}, all) < all;
}

/// Says what goes wrong, and nothing else: what a program prints is its user's.
class Quiet : public JobObserver {
  void noted(Time, const Note& note) override {
    if (const auto* lost = std::get_if<Lost>(&note)) {
      log(Level::warning, concat("worker ", lost->slot, " was lost: ", lost->how));
    }
  }
};

/// The coordinator of a job whose processes mpirun starts: a child of the first rank. It is made
/// before MPI begins, which may start threads, and ends with its parent.
class Coordinating {
 public:
  static Result<Coordinating> start(const RunOptions& options, std::uint32_t ranks) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return Error{Errc::io, with_errno("pipe to a coordinator")};
    Coordinating child;
    child.said_ = Fd(ends[0]);
    Fd say(ends[1]);
    const pid_t parent = ::getpid();
    child.pid_ = ::fork();
    if (child.pid_ < 0) return Error{Errc::io, with_errno("a coordinator")};
    if (child.pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(1);
      coordinate(options, ranks, say.get());
    }
    return child;
  }

  Coordinating(Coordinating&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)), said_(std::move(other.said_)) {}
  ~Coordinating() {
    if (pid_ != 0) ::kill(pid_, SIGKILL);
    wait();
  }

  /// "address token mark"; empty when it could not begin, and has said why.
  std::string doorway() {
    std::string text;
    char byte = 0;
    for (ssize_t count = 0; (count = ::read(said_.get(), &byte, 1)) != 0;) {
      if (count < 0 && errno != EINTR) break;
      if (count > 0) text += byte;
    }
    return text;
  }

  /// Its exit code, which is the job's.
  int wait() {
    int status = 0;
    while (pid_ != 0 && ::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    if (std::exchange(pid_, 0) == 0) return code_;
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    return code_;
  }

 private:
  Coordinating() = default;

  [[noreturn]] static void coordinate(const RunOptions& options, std::uint32_t ranks, int say) {
    // What mpirun has opened for this rank is not for its child: it would be waited for.
    for (int fd = STDERR_FILENO + 1; fd < 1'024; ++fd) {
      if (fd != say) ::close(fd);
    }
    JobOptions job;
    job.command = {"the program"};
    job.snapshots = options.snapshots;
    job.resume = options.resume;
    job.may_differ = {.states = options.allow_changed_state,
                      .program = options.allow_changed_program,
                      .dropped = options.drop_operators};
    job.strict = options.strict;
    job.settings.slots = ranks;
    job.settings.snapshot_interval = options.snapshot_interval;
    job.settings.overtake_after = options.overtake_after;
    job.settings.can_spawn = false;
    job.settings.workers_come = true;
    if (are_on_several_hosts()) {
      auto address = own_address();
      if (!address) {
        log(Level::error, address.error().message);
        ::_exit(3);
      }
      job.listen = *std::move(address);
    }
    std::optional<observe::Board> board;
    std::unique_ptr<observe::HttpServer> server;
    if (const auto http = observe::http_options(options.http, options.http_token)) {
      observe::JobFacts facts = observe::facts_of_this_process();
      facts.command = observe::command_of_this_process();
      facts.workers = ranks;
      facts.snapshots = !job.snapshots.empty();
      facts.snapshot_interval = job.settings.snapshot_interval;
      facts.settings = {{"processes", concat(ranks, ", started by mpirun")}};
      board.emplace(std::move(facts));
      auto started =
          observe::HttpServer::start_if_can(*http, std::make_shared<observe::JobPages>(*board));
      if (!started) {
        log(Level::error, concat("http: ", started.error().message));
        ::_exit(3);
      }
      server = *std::move(started);
      if (!http->is_for_runner) {
        log(Level::info, concat("the job is shown at ", server->entrance()));
      }
      job.board = &*board;
    }
    Quiet observer;
    const JobReport report = run_job(job, observer, [say](const Doorway& doorway) {
      const std::string text = concat(doorway.address, " ", doorway.token, " ", doorway.mark);
      [[maybe_unused]] const ssize_t count = ::write(say, text.data(), text.size());
      ::close(say);
    });
    if (report.code != 0) log(report.code == 75 ? Level::info : Level::error, report.why);
    ::_exit(report.code);
  }

  pid_t pid_ = 0;
  int code_ = 1;
  Fd said_;
};

// A rank that ends without leaving the world takes the world with it, which is what is wanted when
// something has gone wrong; nobody knows then what MPI is still at. MPICH's mpirun has to be told
// when nobody else is to end: it leaves ranks on other hosts alone.
int work(const Graph& graph, const WorkerEnvironment& environment, net::MpiWorld& world,
         std::optional<Coordinating> coordinator = {}) {
  const auto [code, of_itself] = run_worker(graph, environment, &world);
  if (code == 0) world.end();
  const int job_code = coordinator ? coordinator->wait() : code;
  if (code == 0) return job_code;
  std::fflush(nullptr);
  if (of_itself && !coordinator) world.abort(code);
  ::_exit(job_code != 0 ? job_code : code);
}

}  // namespace

bool is_one_of_many_ranks() { return net::MpiWorld::is_here() && ranks_in_environment() > 1; }

int run_ranks(const Graph& graph, const RunOptions& options) {
  std::optional<Coordinating> coordinator;
  if (net::MpiWorld::rank_in_environment() == 0) {
    auto started = Coordinating::start(options, ranks_in_environment());
    if (!started) return refuse(started.error());
    coordinator.emplace(*std::move(started));
  }
  auto world = net::MpiWorld::begin();
  if (!world) return refuse(world.error());
  const std::string doorway = (*world)->broadcast(coordinator ? coordinator->doorway() : "");
  std::istringstream words(doorway);
  WorkerEnvironment environment;
  if (!(words >> environment.coordinators.emplace_back() >> environment.token)) {
    return coordinator ? coordinator->wait() : 3;
  }
  std::getline(words >> std::ws, environment.mark);
  if (are_on_several_hosts()) environment.listen = "facing";
  environment.slot = (*world)->rank();
  environment.snapshots = options.snapshots;
  environment.shared_memory = net::SharedMemory::never;
  environment.threads = options.threads;
  environment.cycle_bytes = options.cycle_bytes;
  environment.state_directory = options.state_directory;
  environment.state_memory = options.state_memory;
  return work(graph, environment, **world, std::move(coordinator));
}

int run_rank(const Graph& graph, WorkerEnvironment environment) {
  auto world = net::MpiWorld::begin();
  if (!world) return refuse(world.error());
  environment.slot = (*world)->rank();
  if (environment.slot < environment.incarnations.size()) {
    environment.incarnation = environment.incarnations[environment.slot];
  }
  return work(graph, environment, **world);
}

}  // namespace piracema::cluster
