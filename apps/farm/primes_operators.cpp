// Counts prime numbers with the operator interface of paper 000 (its section 5).
//
//     primes_operators NUMBERS WORKERS
//     piracema run -n 4 primes_operators NUMBERS WORKERS     or mpirun -n 4 …
//
// Prints what primes_app does: when the first number was given out and the last result was there,
// by the steady clock, how many results there were, and their sum.
#include <piracema/operators.h>

#include <cstdio>
#include <cstdlib>

#include "../common/times.h"
#include "work.h"

using namespace piracema::operators;

class Numbers : public ISourceOperator {
 public:
  explicit Numbers(std::uint64_t last) : last_(last) {}

  void onProduce() override {
    auto given = keyStore::contains("given") ? keyStore::retrieve<std::uint64_t>("given") : 0;
    if (given == 0) {
      apps::print_time("start");
      std::puts("");
      std::fflush(stdout);
    }
    while (given < last_) {
      keyStore::store("given", ++given);
      Emit(given, serialization::serialize(given));
    }
  }

 private:
  std::uint64_t last_;
};

class Test : public IMiddleOperator {
 public:
  void onReceive(const Message& m) override {
    const auto number = serialization::deserialize<std::uint64_t>(m.value);
    Emit(serialization::serialize(work(number)));
  }
};

class Sum : public ISinkOperator {
 public:
  explicit Sum(std::uint64_t last) : last_(last) {}

  void onReceive(const Message& m) override {
    State state = keyStore::contains("state") ? keyStore::retrieve<State>("state") : State{};
    state.results += 1;
    state.sum += serialization::deserialize<std::uint64_t>(m.value);
    keyStore::store("state", state);
    if (state.results == last_) print(state);
  }

 private:
  struct State {
    std::uint64_t results = 0, sum = 0;
  };
  static void print(const State& state) {
    apps::print_time("end");
    std::printf(" items %llu\nsum %llu\n", static_cast<unsigned long long>(state.results),
                static_cast<unsigned long long>(state.sum));
    std::fflush(stdout);
  }
  std::uint64_t last_;
};

int main(int argc, char** argv) {
  init(argc, argv);
  const long long last = argc == 3 ? std::atoll(argv[1]) : 0;
  const int workers = argc == 3 ? std::atoi(argv[2]) : 0;
  if (last < 1 || workers < 1) {
    if (utility::getRank() == 0) std::fprintf(stderr, "usage: primes_operators NUMBERS WORKERS\n");
    return 2;
  }
  Numbers numbers(static_cast<std::uint64_t>(last));
  Test test;
  Sum sum(static_cast<std::uint64_t>(last));
  test.setReplicate(workers);
  pipeline::run(&numbers, &test, &sum);
  finalize();
}
