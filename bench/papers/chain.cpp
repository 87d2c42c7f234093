// The pipeline of paper 000, section 5.3: four stages without replicas, states that are saved, and
// a failure of operator 2. bench/papers/paper000.py runs it.
//
//     paper_chain MESSAGES MILLISECONDS STATE_BYTES FAIL_AFTER DIRECTORY
//
// Operator 1 takes so long for a message. Operator 2 has a state of that size: STATE_BYTES in
// values of at most 1 MB, of which each message renews one. Its process is killed at that message,
// once; 0: never. When the source began and the sink had all is printed if $APP_TIMES is set.
#include <fcntl.h>
#include <piracema/operators.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "apps/common/times.h"

using namespace piracema::operators;

struct Settings {
  std::uint64_t messages = 0;
  std::chrono::milliseconds each{0};
  std::uint64_t state_bytes = 0, fail_after = 0;
  std::string directory;
};

class Source : public ISourceOperator {
 public:
  explicit Source(const Settings& settings) : settings_(settings) {}
  void onProduce() override {
    auto next = keyStore::contains("next") ? keyStore::retrieve<std::uint64_t>("next") : 0;
    apps::started();  // The first time counts.
    for (; next < settings_.messages; ++next) {
      keyStore::store("next", next + 1);
      Emit(next, "message");
    }
  }

 private:
  Settings settings_;
};

class Operator1 : public IMiddleOperator {
 public:
  explicit Operator1(const Settings& settings) : settings_(settings) {}
  void onReceive(const Message& m) override {
    std::this_thread::sleep_for(settings_.each);
    Emit(m.value);
  }

 private:
  Settings settings_;
};

class Operator2 : public IMiddleOperator {
 public:
  explicit Operator2(const Settings& settings) : settings_(settings) {}

  void onReceive(const Message& m) override {
    constexpr std::uint64_t value_bytes = 1'000'000;
    const std::uint64_t values = (settings_.state_bytes + value_bytes - 1) / value_bytes;
    const std::string value(std::min(settings_.state_bytes, value_bytes), 's');
    // Before the first message the state is made; then each renews a part of it.
    const std::uint64_t first = keyStore::contains("0") ? m.id % values : 0;
    const std::uint64_t last = keyStore::contains("0") ? first + 1 : values;
    for (std::uint64_t i = first; i < last; ++i) keyStore::store(std::to_string(i), value);
    if (m.id + 1 == settings_.fail_after && is_first_time()) ::raise(SIGKILL);
    Emit(m.value);
  }

 private:
  bool is_first_time() const {
    const std::string mark = settings_.directory + "/failed";
    return ::open(mark.c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600) >= 0;
  }
  Settings settings_;
};

class Sink : public ISinkOperator {
 public:
  explicit Sink(const Settings& settings) : settings_(settings) {}
  void onReceive(const Message&) override {
    const auto count =
        (keyStore::contains("count") ? keyStore::retrieve<std::uint64_t>("count") : 0) + 1;
    keyStore::store("count", count);
    if (count == settings_.messages) apps::ended(count);
  }

 private:
  Settings settings_;
};

int main(int argc, char** argv) {
  init(argc, argv);
  if (argc != 6) {
    std::fprintf(stderr,
                 "usage: paper_chain MESSAGES MILLISECONDS STATE_BYTES FAIL_AFTER DIRECTORY\n");
    return 2;
  }
  const auto number = [argv](int i) { return std::strtoull(argv[i], nullptr, 10); };
  const Settings settings{.messages = number(1),
                          .each = std::chrono::milliseconds(number(2)),
                          .state_bytes = std::max<std::uint64_t>(number(3), 1),
                          .fail_after = number(4),
                          .directory = argv[5]};
  Source source(settings);
  Operator1 first(settings);
  Operator2 second(settings);
  Sink sink(settings);
  sink.setOrdered(true);
  pipeline::run(&source, &first, &second, &sink);
  finalize();
}
