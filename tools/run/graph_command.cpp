#include "tools/run/graph_command.h"

#include <fcntl.h>
#include <piracema/graph.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"
#include "control/messages/control.h"
#include "os/process.h"
#include "tools/failure.h"
#include "tools/options.h"

namespace piracema::tools {

namespace {

constexpr std::chrono::seconds answer_within{10};
constexpr std::size_t answer_bytes_max = std::size_t{16} << 20;

/// True when `fd` is readable before the deadline.
bool wait_for(int fd, Time deadline) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - now()).count();
    if (left <= 0) return false;
    pollfd ready{.fd = fd, .events = POLLIN, .revents = 0};
    const int count = ::poll(&ready, 1, static_cast<int>(left));
    if (count > 0) return true;
    if (count == 0 || errno != EINTR) return false;
  }
}

/// All that the program writes until it closes its end.
Result<std::string> read_answer(int fd, Time deadline, const std::string& name) {
  std::string answer;
  std::array<char, 65'536> some;
  while (true) {
    if (!wait_for(fd, deadline)) {
      return Error{Errc::config, concat("'", name, "' has not told its graph within ",
                                        answer_within.count(), " s: is it a Piracema program?")};
    }
    const ssize_t count = ::read(fd, some.data(), some.size());
    if (count == 0) return answer;
    if (count < 0) return Error{Errc::io, with_errno("the program's graph")};
    answer.append(some.data(), static_cast<std::size_t>(count));
    if (answer.size() > answer_bytes_max) {
      return Error{Errc::config, concat("'", name, "' told more than ",
                                        human_bytes(answer_bytes_max), " as its graph")};
    }
  }
}

}  // namespace

Result<GraphShape> ask_program(const std::vector<std::string>& command,
                               std::vector<GroupShape>* groups) {
  int ends[2], groups_ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error{Errc::io, with_errno("pipe to the program")};
  const Fd in(ends[0]);
  Fd out(ends[1]);
  if (::pipe2(groups_ends, O_CLOEXEC) != 0) {
    return Error{Errc::io, with_errno("pipe to the program")};
  }
  const Fd groups_in(groups_ends[0]);
  Fd groups_out(groups_ends[1]);
  auto process = cluster::Process::start(
      {.command = command,
       .environment = {concat("PIRACEMA_GRAPH_FD=", out.get()),
                       groups == nullptr ? std::string("PIRACEMA_GROUPS_FD=")
                                         : concat("PIRACEMA_GROUPS_FD=", groups_out.get())},
       .inherited = {out.get(), groups_out.get()},
       .output_to_error = true});
  if (!process) return process.error();
  out.close();
  groups_out.close();
  const Time deadline = now() + answer_within;
  auto answer = read_answer(in.get(), deadline, command.front());
  if (!answer) return answer.error();
  if (!answer->empty() && groups != nullptr) {
    auto told = read_answer(groups_in.get(), deadline, command.front());
    if (!told) return told.error();
    auto cut = runtime::decode_cut(*told);
    if (!cut) return cut.error();
    *groups = std::move(cut->groups);
    auto shape = runtime::decode_shape(*answer);
    if (!shape) return shape;
    if (auto set = runtime::set_costs(*shape, cut->costs); !set) return set.error();
    return shape;
  }
  if (!answer->empty()) return runtime::decode_shape(*answer);
  // It may be about to end, or have become a daemon.
  if (process->handle() >= 0) wait_for(process->handle(), deadline);
  const auto exit = process->reap();
  return Error{Errc::config,
               concat("'", command.front(), "' has not told its graph (",
                      exit ? exit->how : "it goes on", "): is it a Piracema program?")};
}

void GraphCommand::add() {
  graph_ = app_.add_subcommand("graph", "Print the graph of a program, for Graphviz");
  graph_->prefix_command();
  graph_->footer(std::string("Example:\n  piracema graph ./app in.txt out.txt | dot -Tsvg\n\n") +
                 stream_exit_codes);
}

int GraphCommand::run() const {
  auto words = program_words(*graph_);
  if (!words) return fail(words.error());
  std::vector<std::string> command = *std::move(words);
  auto program = cluster::find_program(command.front());
  if (program) command.front() = *program;
  const auto shape = program ? ask_program(command) : program.error();
  if (!shape) {
    log(Level::error, shape.error().message);
    return 3;
  }
  const char* set = std::getenv("PIRACEMA_FUSE");
  const auto fused = fuse(*shape, set != nullptr && std::string_view(set) == "all");
  if (!fused) {
    log(Level::error, fused.error().message);
    return 3;
  }
  std::fputs(to_dot(*shape).c_str(), stdout);
  // What runs, where that is something else.
  if (fused->nodes.size() != shape->nodes.size()) {
    std::fputs(to_dot(*fused, "fused").c_str(), stdout);
  }
  return 0;
}

}  // namespace piracema::tools
