// A farm of very small items, whose work is that of work.h: primes counts prime numbers (paper 000,
// section 5), trivial is busy for a microsecond.
//
//     primes_app|trivial_app NUMBERS WORKERS
//
// Prints when the first number was given out and the last result was there, by the steady clock,
// how many results there were, and their sum.
#include <piracema/piracema.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "work.h"

using namespace piracema;

namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Numbers {
  std::uint64_t last = 0, given = 0;

  std::optional<std::uint64_t> operator()() {
    if (given == 0) {
      std::printf("start %.9f\n", seconds());
      std::fflush(stdout);
    }
    if (given == last) return std::nullopt;
    return ++given;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(given);
  }
};

struct Sum {
  std::uint64_t results = 0, sum = 0;

  void operator()(const std::uint64_t& result) {
    results += 1;
    sum += result;
  }
  void finish() const {
    std::printf("end %.9f items %llu\nsum %llu\n", seconds(),
                static_cast<unsigned long long>(results), static_cast<unsigned long long>(sum));
    std::fflush(stdout);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(results, sum);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 || std::atoll(argv[1]) < 1 || std::atoi(argv[2]) < 1) return 2;
  const auto last = static_cast<std::uint64_t>(std::atoll(argv[1]));
  const auto workers = static_cast<std::uint32_t>(std::atoi(argv[2]));
  return run(pipeline(source("numbers", Numbers{last}),
                      farm("work", workers, [](const std::uint64_t& n) { return work(n); }),
                      sink("sum", Sum{})));
}
