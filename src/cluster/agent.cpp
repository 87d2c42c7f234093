#include "cluster/agent.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"
#include "cluster/agent_messages.h"
#include "cluster/at_work.h"
#include "cluster/coordinator_call.h"
#include "cluster/directory_mark.h"
#include "cluster/process.h"
#include "cluster/staging.h"
#include "net/connection.h"
#include "net/poller.h"

namespace piracema::cluster {

namespace {

// Output that the coordinator has not said it took; processes that write more wait in `write`.
constexpr std::uint64_t output_under_way_max = std::uint64_t{8} << 20;
constexpr std::size_t output_piece_bytes = std::size_t{64} << 10;
// SIGKILL takes a moment.
constexpr std::chrono::seconds ends_within{2};

/// What the first line on standard input says.
struct Task {
  std::string program, coordinator, token;
  std::uint32_t host = 0, attempt = 0;
};

Result<Task> read_task(const std::string& program) {
  std::string line;
  char byte = 0;
  while (line.size() < 512 && ::read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n') line += byte;
  Task task{.program = program};
  std::istringstream in(line);
  if (!(in >> task.coordinator >> task.token >> task.host >> task.attempt) ||
      !net::is_token(task.token)) {
    return Error{Errc::config, "want a coordinator on standard input, found none"};
  }
  return task;
}

class Agent {
 public:
  explicit Agent(Task task) : task_(std::move(task)) {}

  int run() {
    if (auto prepared = prepare(); !prepared) {
      log(Level::error, prepared.error().message);
      return 3;
    }
    call_ = std::make_unique<CoordinatorCall>(
        poller_, task_.coordinator, task_.token,
        [this](Result<std::shared_ptr<net::Connection>> line) { called(std::move(line)); });
    while (!leave_by_) poller_.run_once(std::chrono::milliseconds(1'000));
    while (!children_.empty() && now() < *leave_by_) {
      poller_.run_once(std::chrono::milliseconds(20));
      reap_all();
    }
    if (line_) line_->close();
    return code_;
  }

 private:
  using Id = std::pair<Slot, std::uint32_t>;
  struct Child {
    std::unique_ptr<Process> process;
    AtWork at_work;
  };

  Result<Done> prepare() {
    struct stat status {};
    if (::fstat(STDIN_FILENO, &status) != 0 ||
        !(S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || S_ISCHR(status.st_mode))) {
      return Error{Errc::config, "standard input: want a remote shell's, found a file"};
    }
    poller_.watch(STDIN_FILENO, EPOLLIN, [this](std::uint32_t) { input(); });
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return Error{Errc::io, with_errno("pipe for output")};
    output_in_ = Fd(ends[0]);
    output_out_ = Fd(ends[1]);
    ::fcntl(output_in_.get(), F_SETFL, O_NONBLOCK);
    watch_output();
    return Done{};
  }

  // Nothing more is said there; its end is that of the remote shell.
  void input() {
    std::array<char, 256> some;
    const ssize_t count = ::read(STDIN_FILENO, some.data(), some.size());
    if (count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN))) return;
    poller_.forget(STDIN_FILENO);
    leave(1, "the remote shell has ended");
  }

  void called(Result<std::shared_ptr<net::Connection>> line) {
    if (!line) return leave(3, line.error().message);
    line_ = *std::move(line);
    line_->trust({.received = [this](const wire::Frame& frame) { received(frame); },
                  .lost =
                      [this](const Error& why) {
                        line_.reset();
                        leave(1, concat("the coordinator is gone: ", why.message));
                      }});
    say(AgentHello{task_.host, task_.attempt});
    heard_at_ = now();
    beat();
  }

  void say(const FromAgent& message) {
    if (line_) line_->send(to_frame(message));
  }

  void beat() {
    reap_all();
    AgentPulse pulse;
    for (const auto& [id, child] : children_) {
      const Condition condition{id.first, id.second, child.process->is_held_up(),
                                child.process->is_stopped()};
      if (condition.held_up || condition.stopped) pulse.conditions.push_back(condition);
    }
    say(pulse);
    if (now() - heard_at_ > std::chrono::milliseconds(setup_.patience_ms)) {
      return leave(1,
                   concat("nothing was heard of the coordinator for ", setup_.patience_ms, " ms"));
    }
    poller_.at(now() + std::chrono::milliseconds(setup_.heartbeat_ms), [this] { beat(); });
  }

  void received(const wire::Frame& frame) {
    const auto message = to_agent(frame);
    if (!message) return leave(3, message.error().message);
    heard_at_ = now();
    std::visit([this](const auto& what) { act(what); }, *message);
  }

  void act(const Setup& setup) {
    setup_ = setup;
    setup_.heartbeat_ms = std::max<std::uint32_t>(setup.heartbeat_ms, 1);
    if (!setup_.command.empty()) setup_.command.front() = task_.program;
    AgentReady ready;
    if (!setup_.mark.empty()) {
      const auto seen = look_for_mark(setup_.mark, std::to_string(task_.host));
      if (!seen) ready.why_not = seen.error().message;
    }
    say(ready);
  }

  void act(const StartProcess& what) {
    if (leave_by_) return;
    if (auto started = start(what); !started) {
      say(NotStarted{what.slot, what.incarnation, started.error().message});
    }
  }

  Result<Done> start(const StartProcess& what) {
    const Id id{what.slot, what.incarnation};
    if (setup_.command.empty() || children_.count(id) != 0) {
      return Error{Errc::refused, "the coordinator says what it should not"};
    }
    auto at_work = AtWork::create();
    if (!at_work) return at_work.error();
    Launch launch{.command = setup_.command,
                  .environment = setup_.environment,
                  .inherited = {at_work->fd()},
                  .output = output_out_.get()};
    for (const std::string& variable : what.environment) set_variable(launch.environment, variable);
    set_variable(launch.environment, concat("PIRACEMA_SLOT=", what.slot));
    set_variable(launch.environment, concat("PIRACEMA_INCARNATION=", what.incarnation));
    set_variable(launch.environment, concat("PIRACEMA_AT_WORK_FD=", at_work->fd()));
    auto process = Process::start(launch);
    if (!process) return process.error();
    auto owned = std::make_unique<Process>(*std::move(process));
    if (owned->handle() >= 0) {
      poller_.watch(owned->handle(), EPOLLIN, [this, id](std::uint32_t) { reap(id); });
    }
    children_.emplace(id, Child{std::move(owned), *std::move(at_work)});
    return Done{};
  }

  void act(const EndProcess& what) {
    const auto found = children_.find({what.slot, what.incarnation});
    if (found != children_.end()) found->second.process->signal(SIGKILL);
  }
  void act(const Pulse& pulse) {
    output_taken_ = pulse.output_taken;
    if (!watching_output_ && may_read_output()) watch_output();
  }
  void act(const Leave&) { leave(0, ""); }

  void leave(int code, const std::string& why) {
    if (leave_by_) return;
    if (!why.empty()) log(code == 3 ? Level::error : Level::warning, concat("agent: ", why));
    code_ = code;
    leave_by_ = now() + ends_within;
    for (const auto& [id, child] : children_) child.process->signal(SIGKILL);
  }

  void reap_all() {
    std::vector<Id> all;
    for (const auto& [id, child] : children_) all.push_back(id);
    for (const Id& id : all) reap(id);
  }

  void reap(Id id) {
    const auto found = children_.find(id);
    if (found == children_.end()) return;
    Process& process = *found->second.process;
    const int handle = process.handle();
    const auto exit = process.reap();
    if (!exit) return;
    poller_.forget(handle);
    while (read_output()) {
    }
    Ended ended{.slot = id.first,
                .incarnation = id.second,
                .clean = exit->clean,
                .from_outside = exit->from_outside,
                .status = {},
                .how = exit->how,
                .cpu_ns = static_cast<std::uint64_t>(exit->cpu.count()),
                .peak_bytes = exit->peak_bytes,
                .at_work = {}};
    if (exit->status) ended.status = static_cast<std::uint32_t>(*exit->status);
    for (const auto& [replica, item] : found->second.at_work.busy()) {
      ended.at_work.push_back({replica, item});
    }
    say(ended);
    children_.erase(found);
  }

  // ---- output -----------------------------------------------------------------------------

  bool may_read_output() const { return output_said_ - output_taken_ < output_under_way_max; }

  void watch_output() {
    watching_output_ = true;
    poller_.watch(output_in_.get(), EPOLLIN, [this](std::uint32_t) {
      read_output();
      if (may_read_output()) return;
      watching_output_ = false;
      poller_.forget(output_in_.get());
    });
  }

  bool read_output() {
    std::string text(output_piece_bytes, '\0');
    const ssize_t count = ::read(output_in_.get(), text.data(), text.size());
    if (count <= 0) return false;
    text.resize(static_cast<std::size_t>(count));
    output_said_ += text.size();
    say(Output{std::move(text)});
    return true;
  }

  const Task task_;
  net::Poller poller_;
  Setup setup_;
  std::unique_ptr<CoordinatorCall> call_;
  std::shared_ptr<net::Connection> line_;
  Time heard_at_{};
  /// What the processes write; all of them have the same end.
  Fd output_in_, output_out_;
  bool watching_output_ = false;
  std::uint64_t output_said_ = 0, output_taken_ = 0;
  std::map<Id, Child> children_;
  std::optional<Time> leave_by_;
  int code_ = 0;
};

}  // namespace

int run_agent(int argc, char** argv) {
  if (argc != 2) {
    log(Level::error, "piracema agent is started by piracema run on other hosts, not by users");
    return 2;
  }
  set_log({.who = "agent"});
  std::fputs((std::string(Staging::agent_says) + "\n").c_str(), stdout);
  std::fflush(stdout);
  auto task = read_task(argv[1]);
  if (!task) {
    log(Level::error, task.error().message);
    return 2;
  }
  return Agent(*std::move(task)).run();
}

}  // namespace piracema::cluster
