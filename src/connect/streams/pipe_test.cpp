#include <fcntl.h>
#include <piracema/detail/callable.h>
#include <piracema/pipe.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/fd.h"
#include "connect/files/temporary_directory.h"
#include "connect/streams/streams_testing.h"

using namespace piracema;
using namespace piracema::testing;

namespace {

static_assert(detail::Archived<PipeLines>);

using RunningPipe = Running<PipeLines>;

/// A named pipe that this process holds open, so that it does not end between two readers.
struct NamedPipe {
  explicit NamedPipe(const std::string& at) : path(at) {
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    keep = Fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    REQUIRE(keep);
  }
  void say(const std::string& text) const {
    REQUIRE(::write(keep.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }

  std::string path;
  Fd keep;
};

}  // namespace

TEST_CASE("lines come as they are written, and a line that is not whole is waited for") {
  const TemporaryDirectory directory;
  NamedPipe pipe(directory.path("pipe"));
  RunningPipe lines(PipeLines(pipe.path), {}, first_time());
  CHECK(lines.has_nothing_yet());
  std::thread later([&] { pipe.say("one\ntwo\nthr"); });
  CHECK(lines.next(2) == Texts{"one", "two"});
  later.join();
  CHECK(lines.has_nothing_yet());
  pipe.say("ee\n\nfour");
  CHECK(lines.next(2) == Texts{"three", ""});
  pipe.keep.close();
  CHECK(lines.next() == "four");
  CHECK(lines.has_ended());
  CHECK(lines.has_ended());
}

TEST_CASE("with a journal a replacement reads again what was read since the snapshot, once") {
  const TemporaryDirectory directory;
  NamedPipe pipe(directory.path("pipe"));
  const PipeLines prototype(pipe.path, {.journal = directory.path("journal")});
  Texts wanted;
  for (int i = 0; i < 1'000; ++i) wanted.push_back(std::to_string(i));
  for (const std::string& line : wanted) pipe.say(line + "\n");

  auto lines = std::make_unique<RunningPipe>(prototype, Buffer(), first_time());
  Texts found = lines->next(10);
  for (int round = 0; round < 9; ++round) {
    const Buffer state = lines->state();
    lines->next(25);  // Read, and lost with the replica.
    lines.reset();
    lines = std::make_unique<RunningPipe>(prototype, state, Context{.node = "in"});
    for (std::string& line : lines->next(10)) found.push_back(std::move(line));
  }
  pipe.keep.close();
  while (auto line = lines->next()) found.push_back(*std::move(line));
  CHECK(found == wanted);
  lines.reset();

  // Also when the pipe has ended and is no more.
  const Buffer early = [&] {
    RunningPipe again(prototype, {}, Context{.node = "in"});
    CHECK(again.next(3) == Texts{"0", "1", "2"});
    return again.state();
  }();
  RunningPipe last(prototype, early, Context{.node = "in"});
  CHECK(last.next(2'000).size() == 997);
}

TEST_CASE(
    "a process that is killed at any moment has lost nothing that its journal does not have") {
  const TemporaryDirectory directory;
  NamedPipe pipe(directory.path("pipe"));
  const PipeLines prototype(pipe.path, {.journal = directory.path("journal")});
  std::atomic<bool> enough{false}, written{false};
  std::thread writer([&] {
    for (int i = 0; i < 200'000 && !enough; ++i) pipe.say(std::to_string(i) + "\n");
    pipe.say("end\n");
    written = true;
  });
  for (int round = 0; round < 20; ++round) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      // Threads are not copied: it is asked again and again instead of being woken.
      PipeLines lines(prototype);
      lines.start({.node = "in", .begins_job = round == 0, .wake = [] {}});
      for (;;) lines();
    }
    // As long as it takes to fill the journal by some lines; the parent's own time does not count.
    const std::string journal = directory.path("journal");
    const auto bytes = [&] {
      std::error_code none;
      const auto size = std::filesystem::file_size(journal, none);
      return none ? 0 : size;
    };
    const auto before = bytes();
    while (bytes() < before + 50 && !written) std::this_thread::yield();
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  enough = true;
  RunningPipe lines(prototype, {}, Context{.node = "in"});
  int next = 0;
  auto line = lines.next();
  for (; line != "end" && line == std::to_string(next); line = lines.next()) next += 1;
  CHECK(line == "end");
  CHECK(next > 0);
  writer.join();
}

TEST_CASE("without a journal a recovery is an error, unless what was read may be lost") {
  const TemporaryDirectory directory;
  NamedPipe pipe(directory.path("pipe"));
  pipe.say("one\ntwo\nthree\n");
  Buffer state;
  {
    RunningPipe lines(PipeLines(pipe.path), {}, first_time());
    CHECK(lines.next() == "one");
    state = lines.state();
  }
  pipe.say("four\n");
  const std::string error = error_of([&] { RunningPipe(PipeLines(pipe.path), state); });
  CHECK(error == "pipe '" + pipe.path +
                     "': what was read since the snapshot cannot be read again; with a journal "
                     "(LiveOptions) it could, or let it be lost (may_lose)");
  CHECK(error_of([&] { RunningPipe(PipeLines(pipe.path), {}, Context{.node = "in"}); }) == error);
  RunningPipe lines(PipeLines(pipe.path, {.may_lose = true}), state);
  CHECK(lines.next() == "four");
}

TEST_CASE("what is no pipe, no journal, too long or shared is an error that says so") {
  const TemporaryDirectory directory;
  const std::string file = directory.path("file");
  std::ofstream(file) << "mine\n";
  CHECK(error_of([&] { RunningPipe(PipeLines(file), {}, first_time()); }) ==
        "pipe '" + file + "': want a pipe, found a file: FileLines reads it");
  NamedPipe pipe(directory.path("pipe"));
  CHECK(error_of([&] { RunningPipe(PipeLines(pipe.path, {.journal = file}), {}, first_time()); }) ==
        "journal '" + file + "' is no journal: name a file that may be written over");
  CHECK(std::filesystem::file_size(file) == 5);
  CHECK(error_of([&] {
          RunningPipe(PipeLines(pipe.path), {}, {.node = "in", .replicas = 2, .begins_job = true});
        }).find("want one replica of 'in', found 2") != std::string::npos);

  const LiveOptions journaled{.journal = directory.path("journal"), .item_bytes_max = 4};
  RunningPipe lines(PipeLines(pipe.path, journaled), {}, first_time());
  CHECK(error_of([&] {
          RunningPipe(PipeLines(pipe.path, journaled), {}, first_time());
        }).find("is in use by process " + std::to_string(::getpid())) != std::string::npos);
  pipe.say("1234\n12345\n");
  CHECK(lines.next() == "1234");
  CHECK(error_of([&] { lines.next(); }) == "pipe '" + pipe.path +
                                               "': the line at byte 5: want at most 4 bytes, "
                                               "found more");
}
