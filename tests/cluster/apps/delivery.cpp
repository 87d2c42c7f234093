// Tells which replica gets which item.
//
//     delivery_app OUT how=HOW [items=N]
//
// HOW: on_demand, round_robin, strict_round_robin, by_key, custom or broadcast.
//
// Writes "REPLICA ITEM" lines. On demand there are two replicas, one of which takes 10 ms for an
// item, the other 20 ms; else there are three.
#include <fcntl.h>
#include <piracema/piracema.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "options.h"

using namespace piracema;

/// Two threads, of one process or two, that wait for each other after each round. So one is twice
/// as fast as the other however long a busy machine lets each of them sleep.
class Rounds {
 public:
  Rounds(const std::string& path, std::uint32_t me)
      : mine_(open_pipe(path + "." + std::to_string(me))),
        others_(open_pipe(path + "." + std::to_string(1 - me))) {}
  ~Rounds() {
    ::close(mine_);
    ::close(others_);
  }
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;

  void done() const {
    char one = 0;
    if (::write(others_, &one, 1) != 1 || ::read(mine_, &one, 1) != 1) std::abort();
  }
  /// The other one need not wait any more.
  void leave() const {
    const std::string many(10'000, '\0');
    if (::write(others_, many.data(), many.size()) < 0) std::abort();
  }

 private:
  static int open_pipe(const std::string& path) {
    ::mkfifo(path.c_str(), 0600);  // Whoever comes first.
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) std::abort();
    return fd;
  }
  int mine_, others_;
};

struct Work {
  /// Where the replicas meet, if they are slow.
  std::string slow;
  std::uint32_t replica = 0;
  int items = 0;
  std::shared_ptr<Rounds> rounds;

  void start(const Context& context) {
    replica = context.replica;
    if (!slow.empty()) rounds = std::make_shared<Rounds>(slow, replica);
  }
  std::string operator()(const std::int64_t& n) {
    if (rounds) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10 * (replica + 1)));
      if (replica == 1 || ++items % 2 == 0) rounds->done();
    }
    return std::to_string(replica) + " " + std::to_string(n);
  }
  void finish() {
    if (rounds) rounds->leave();
  }
};

auto work_for(const std::string& how, const std::string& out) {
  if (how == "on_demand") return farm("work", 2, Work{.slow = out});
  auto work = farm("work", 3, Work{});
  if (how == "round_robin") return std::move(work).round_robin();
  if (how == "strict_round_robin") return std::move(work).strict_round_robin();
  if (how == "by_key") return std::move(work).by_key([](const std::int64_t& n) { return n % 10; });
  if (how == "custom")
    return std::move(work).route([](const std::int64_t& n) { return n / 7 % 3; });
  return std::move(work).broadcast();
}

int main(int argc, char** argv) {
  const Options options(argc, argv);
  return run(pipeline(source("numbers", Sequence{1, options.number("items", 300)}),
                      work_for(options.text("how"), options.out()),
                      sink("lines", LineSink(options.out()))));
}
