#include "host/agent.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/parse.h"
#include "base/refused_writes.h"
#include "base/text.h"
#include "host/agent_messages.h"
#include "host/agent_output.h"
#include "host/agent_processes.h"
#include "host/coordinator_search.h"
#include "host/coordinator_watch.h"
#include "host/directory_mark.h"
#include "host/staging.h"
#include "host/way_to_job.h"
#include "loop/poller.h"
#include "net/socket/connection.h"
#include "os/exit_code.h"
#include "os/signal_watch.h"

namespace piracema::cluster {

namespace {

// SIGKILL takes a moment.
constexpr std::chrono::seconds ends_within{2};

/// What the first line says.
struct Task {
  std::string program, coordinator, token;
  std::uint32_t host = 0, attempt = 0;
};

Result<Task> read_task(const std::string& program, int from) {
  std::string line;
  char byte = 0;
  while (line.size() < 512 && ::read(from, &byte, 1) == 1 && byte != '\n') line += byte;
  Task task{.program = program};
  std::istringstream in(line);
  if (!(in >> task.coordinator >> task.token >> task.host >> task.attempt) ||
      !net::is_token(task.token)) {
    return Error{Errc::config, concat("want a coordinator on descriptor ", from, ", found none")};
  }
  return task;
}

class Agent {
 public:
  /// `line` leads to the coordinator that has started us; without one it is called.
  Agent(Task task, Fd line)
      : task_(std::move(task)), here_(line.get() >= 0), given_(std::move(line)) {}

  int run() {
    if (auto prepared = prepare(); !prepared) {
      log(Level::error, prepared.error().message);
      return 3;
    }
    begin();
    while (!leave_by_) poller_.run_once(std::chrono::milliseconds(1'000));
    while (!processes_.empty() && now() < *leave_by_) {
      poller_.run_once(std::chrono::milliseconds(20));
      processes_.reap_all();
    }
    if (line_) line_->close();
    return code_;
  }

 private:
  Result<Done> prepare() {
    if (here_) return output_.open();
    struct stat status {};
    if (::fstat(STDIN_FILENO, &status) != 0 ||
        !(S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || S_ISCHR(status.st_mode))) {
      return Error{Errc::config, "standard input: want a remote shell's, found a file"};
    }
    auto signals = ckpt::SignalWatch::open(poller_, {SIGTERM}, [this](int) { asked_to_leave(); });
    if (!signals) return signals.error();
    signals_ = *std::move(signals);
    poller_.watch(STDIN_FILENO, EPOLLIN, [this](std::uint32_t) { input(); });
    return output_.open();
  }

  // A coordinator that cannot do without this host says Leave at once.
  void asked_to_leave() {
    if (leaving_ || (!wanted_ && processes_.empty())) {
      return leave(exit_code_of_signal(SIGTERM), "ended by SIGTERM");
    }
    leaving_ = true;
    log(Level::info, "asked to leave: processes go to other hosts");
    say(Leaving{});
  }

  void begin() {
    if (!here_) return search_.begin(now());
    search_.found_at(task_.coordinator);
    called(net::Connection::open(poller_, std::move(given_), {}));
  }

  // Nothing more is said there; its end is that of the remote shell.
  void input() {
    std::array<char, 256> some;
    const ssize_t count = ::read(STDIN_FILENO, some.data(), some.size());
    if (count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN))) return;
    poller_.forget(STDIN_FILENO);
    // It may have ended with the coordinator, and then another one may come.
    if (setup_.keep_ms == 0) leave(1, "the remote shell has ended");
  }

  void called(Result<std::shared_ptr<net::Connection>> line) {
    if (leave_by_) return;
    // While one is there that is silent, no other was found, or it is looked for again.
    if (!line && line_) return;
    if (!line) return leave(beats_ ? 1 : 3, line.error().message);
    if (line_) {
      log(Level::warning, "the coordinator is silent, and another one has its place");
      line_->close();
      output_.hold();
    }
    line_ = *std::move(line);
    line_->trust({.received = [this](const wire::Frame& frame) { received(frame); },
                  .lost = [this](const Error& why) { lost(why); }});
    AgentHello hello{task_.host, task_.attempt, processes_.running()};
    for (const Ended& ended : untold_) hello.running.push_back({ended.slot, ended.incarnation});
    say(hello);
    for (const Ended& ended : std::exchange(untold_, {})) say(ended);
    if (leaving_) say(Leaving{});
    output_.go_on();
    heard_at_ = now();
    if (!std::exchange(beats_, true)) beat();
  }

  // What it has started goes on meanwhile. One that is there and does not want us puts nothing off.
  void lost(const Error& why) {
    line_.reset();
    watch_.stop();
    output_.hold();
    if (leave_by_) return;
    // On its own host our workers are gone as well, and whoever has ended it knows.
    if (setup_.keep_ms == 0) {
      return leave(1, here_ ? "" : concat("the coordinator is gone: ", why.message));
    }
    if (std::exchange(wanted_, false)) {
      log(Level::warning, concat("the coordinator is gone (", why.message,
                                 "): looking for another for ", setup_.keep_ms, " ms"));
      until_ = now() + std::chrono::milliseconds(setup_.keep_ms);
    }
    search_.begin_again(until_, why);
  }

  void say(const FromAgent& message) {
    if (line_) line_->send(to_frame(message));
  }

  void ended(const Ended& ended) {
    output_.drain();
    if (line_) return say(ended);
    untold_.push_back(ended);
  }

  void beat() {
    processes_.reap_all();
    AgentPulse pulse;
    pulse.conditions = processes_.conditions();
    say(pulse);
    const std::chrono::milliseconds patience(setup_.patience_ms);
    if (line_ && patience.count() != 0 && now() - heard_at_ > patience) {
      line_->close();
      lost({Errc::timeout,
            concat("nothing was heard of the coordinator for ", patience.count(), " ms")});
    }
    poller_.at(now() + std::chrono::milliseconds(setup_.heartbeat_ms), [this] { beat(); });
  }

  void received(const wire::Frame& frame) {
    const auto message = to_agent(frame);
    if (!message) return leave(3, message.error().message);
    heard_at_ = now();
    watch_.heard();
    if (search_.searches()) search_.stop();
    std::visit([this](const auto& what) { act(what); }, *message);
  }

  void act(const Setup& setup) {
    setup_ = setup;
    search_.known().look_in(setup.coordinator_file);
    search_.known().told(setup.coordinators);
    leave_way();
    use_log_environment(setup_.environment);
    wanted_ = true;
    // What it has came from whoever has started it.
    if (!here_) setup_.own_streams = false;
    setup_.heartbeat_ms = std::max<std::uint32_t>(setup.heartbeat_ms, 1);
    if (!setup_.command.empty()) setup_.command.front() = task_.program;
    watch_.expect(std::chrono::milliseconds(setup.others_after_ms));
    AgentReady ready;
    if (!setup_.mark.empty()) {
      const auto seen = look_for_mark(setup_.mark, std::to_string(task_.host));
      if (!seen) ready.why_not = seen.error().message;
    }
    say(ready);
  }

  void look_for_others() {
    if (leave_by_ || search_.searches()) return;
    search_.look_for_others(now() + std::chrono::milliseconds(setup_.keep_ms));
  }

  void act(const StartProcess& what) {
    if (leave_by_) return;
    if (auto started = processes_.start(what, setup_, output_.fd()); !started) {
      say(NotStarted{what.slot, what.incarnation, started.error().message});
    }
  }

  void act(const EndProcess& what) { processes_.kill(what); }
  void act(const AskAtWork& what) {
    if (const auto now = processes_.at_work(what)) say(*now);
  }
  void act(const Pulse& pulse) {
    output_.taken(pulse.output_taken);
    search_.known().told(pulse.coordinators);
    leave_way();
  }

  // For a command that joins the job on this node of a cluster when the first one is gone.
  void leave_way() {
    const auto& all = search_.known().addresses();
    if (way_file_.empty() || all.size() < 2 || all == way_.coordinators) return;
    way_ = {task_.token, all};
    if (auto left = write_way_to_job(way_file_, way_); !left) {
      log(Level::warning, concat("no command can join the job from here: ", left.error().message));
    }
  }
  void act(const Leave&) { leave(0, ""); }

  void leave(int code, const std::string& why) {
    if (leave_by_) return;
    if (!why.empty()) log(code == 3 ? Level::error : Level::warning, concat("agent: ", why));
    code_ = code;
    leave_by_ = now() + ends_within;
    processes_.kill_all();
  }

  const Task task_;
  /// It is on its coordinator's host.
  const bool here_;
  /// Until it has begun.
  Fd given_;
  net::Poller poller_;
  Setup setup_;
  CoordinatorSearch search_{
      poller_,
      {task_.token, {task_.coordinator}},
      [this](Result<std::shared_ptr<net::Connection>> line) { called(std::move(line)); }};
  const std::string way_file_ = way_to_job_file();
  WayToJob way_;
  CoordinatorWatch watch_{poller_, [this] { look_for_others(); }};
  std::shared_ptr<net::Connection> line_;
  Time heard_at_{};
  /// Whether the coordinator that is there has taken this agent for its own.
  bool wanted_ = false;
  bool leaving_ = false;
  /// None on the coordinator's own host, where it decides.
  std::unique_ptr<ckpt::SignalWatch> signals_;
  /// Until when another one may come.
  Time until_{};
  /// Ended while there was no coordinator.
  std::vector<Ended> untold_;
  bool beats_ = false;
  AgentOutput output_{poller_, [this](std::string text) { say(Output{std::move(text)}); }};
  AgentProcesses processes_{poller_, [this](const Ended& process) { ended(process); }};
  std::optional<Time> leave_by_;
  int code_ = 0;
};

}  // namespace

int run_agent(int argc, char** argv) {
  const bool here = argc == 3;
  if (argc != 2 && !here) {
    log(Level::error, "piracema agent is started by piracema run, not by users");
    return 2;
  }
  set_log_process("agent");
  // Its errors go to a remote shell, which may be gone.
  refuse_writes_to_nobody();
  const auto descriptor = here ? parse_number<int>(argv[2]) : STDIN_FILENO;
  if (!here) {
    std::fputs((std::string(Staging::started_says) + "\n").c_str(), stdout);
    std::fflush(stdout);
  }
  auto task = descriptor ? read_task(argv[1], *descriptor)
                         : Result<Task>(Error{Errc::config, "want the number of a descriptor"});
  if (!task) {
    log(Level::error, task.error().message);
    return 2;
  }
  if (!here) return Agent(*std::move(task), Fd()).run();
  ::fcntl(*descriptor, F_SETFL, O_NONBLOCK);
  ::fcntl(*descriptor, F_SETFD, FD_CLOEXEC);
  return Agent(*std::move(task), Fd(*descriptor)).run();
}

}  // namespace piracema::cluster
