// Numbers, a farm with a state for each key, a farm where things go wrong, lines in order: what
// most tests run, alone or under `piracema run`.
//
//     stream_app OUT [items=N] [until=FILE] [pause_us=T] [ballast=BYTES] [slow=N] [every_ms=T] [resume]
//     [stop-at-start]
//     [die-at-start=SIGNAL] [always]
//                [fault=throw|throw-once|segv|abort|stick|stick-once|freeze|hang-up|exit at=N]
//
// The source waits `pause_us` before each number and ends after `items`, or once FILE exists.
// Each state carries `ballast` more bytes, and N blocks that take a tenth of a second each to load. `fault` says what happens at number `at` in the farm
// "check"; `stick` does not return. `throw-once` and `stick-once` do it once in the life of OUT.
// OUT.fault tells that one of these has happened, and in which slot. `freeze` stops the process,
// `hang-up` closes its connections, `exit` is exit(0). With `stop-at-start` the first process that
// replaces another one in its place stops before it has joined; with `die-at-start` the first one
// of each place, or with `always` every one, gets a signal then.
#include <fcntl.h>
#include <piracema/piracema.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cereal/types/map.hpp>
#include <chrono>
#include <cstring>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

#include "options.h"

using namespace piracema;

struct Numbers {
  std::int64_t items = 0;
  std::string until;
  std::chrono::microseconds pause{0};
  std::int64_t sent = 0;

  std::optional<std::int64_t> operator()() {
    if (sent == items) return std::nullopt;
    if (!until.empty() && ::access(until.c_str(), F_OK) == 0) return std::nullopt;
    if (pause.count() != 0) std::this_thread::sleep_for(pause);
    return ++sent;
  }
  double progress() const { return static_cast<double>(sent) / static_cast<double>(items); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(sent);
  }
};

/// What comes out depends on all items of the same key before: a loss or a double shows.
struct Chain {
  std::string ballast;
  std::int64_t slow_blocks = 0;
  std::map<std::int64_t, std::uint64_t> sums;

  static std::int64_t key(const std::int64_t& n) { return n % 37; }

  std::string operator()(const std::int64_t& n) {
    std::uint64_t& sum = sums[key(n)];
    sum = engine::mix(sum + static_cast<std::uint64_t>(n));
    return std::to_string(n) + " " + std::to_string(sum % 1'000'000);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(ballast, sums);
    std::string block(32'768, 'x');
    for (std::int64_t i = 0; i < slow_blocks; ++i) {
      if (Archive::is_loading::value) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      archive(block);
    }
  }
};

struct Check {
  std::string fault, out;
  std::int64_t at = 0;

  std::string operator()(const std::string& line) {
    if (!fault.empty() && std::atoll(line.c_str()) == at) go_wrong();
    return line;
  }
  void go_wrong() const {
    if (fault == "throw") throw std::runtime_error("no half measures");
    if (fault == "throw-once" && first_time()) throw std::runtime_error("a bad day");
    if (fault == "segv") ::raise(SIGSEGV);
    if (fault == "abort") ::abort();
    if (fault == "freeze") ::raise(SIGSTOP);
    if (fault == "hang-up") hang_up();
    if (fault == "exit") std::exit(0);
    if (!fault.starts_with("stick")) return;
    const bool sticks = first_time() || fault == "stick";
    while (sticks) ::pause();
  }
  /// Other threads use them, which is the fault: the thread sanitizer is not told of it.
  static void hang_up() {
    struct stat status {};
    for (int fd = STDERR_FILENO + 1; fd < 1'024; ++fd) {
      if (::fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode)) ::syscall(SYS_close, fd);
    }
  }
  bool first_time() const {
    const int fd = ::open((out + ".fault").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    const char* slot = std::getenv("PIRACEMA_SLOT");
    if (slot != nullptr && ::write(fd, slot, std::strlen(slot)) < 0) ::perror("fault");
    ::close(fd);
    return true;
  }
};

int main(int argc, char** argv) {
  const Options options(argc, argv);
  const char* incarnation = std::getenv("PIRACEMA_INCARNATION");
  const bool is_first_replacement = incarnation != nullptr && std::string(incarnation) == "1";
  if (options.has("stop-at-start") && is_first_replacement) ::raise(SIGSTOP);
  const bool is_first = incarnation != nullptr && std::string(incarnation) == "0";
  if (options.has("die-at-start") && incarnation != nullptr &&
      (is_first || options.has("always"))) {
    ::signal(SIGSEGV, SIG_DFL);
    ::raise(static_cast<int>(options.number("die-at-start", 0)));
  }
  // A sanitizer would take it for a mistake of its own kind, and end the process its own way.
  ::signal(SIGSEGV, SIG_DFL);
  const Numbers numbers{.items = options.number("items", std::numeric_limits<std::int64_t>::max()),
                        .until = options.text("until"),
                        .pause = std::chrono::microseconds(options.number("pause_us", 0))};
  const Chain chain{.ballast =
                        std::string(static_cast<std::size_t>(options.number("ballast", 0)), 'x'),
                    .slow_blocks = options.number("slow", 0)};
  const Check check{
      .fault = options.text("fault"), .out = options.out(), .at = options.number("at", 0)};
  return run(pipeline(source("numbers", numbers), farm("chain", 3, chain).by_key(Chain::key),
                      farm("check", 2, check).ordered(), sink("lines", LineSink(options.out()))),
             {.snapshot_interval = std::chrono::milliseconds(options.number("every_ms", 1'000)),
              .resume = options.has("resume")});
}
