// The first program: numbers, squared by four replicas, added up by a sink with state.
//
//     01_pipeline                        one process, a thread for each replica
//     piracema run -n 4 ./01_pipeline    the same program as four processes

#include <piracema/piracema.h>

#include <cinttypes>
#include <cstdio>

using namespace piracema;

// A sink with state: what `serialize` names is saved in snapshots and comes back after a failure.
struct Sum {
  std::int64_t total = 0;

  void operator()(const std::int64_t& square) { total += square; }
  void finish() const { std::printf("sum of squares: %" PRId64 "\n", total); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(total);
  }
};

int main() {
  return run(pipeline(source("numbers", Sequence{1, 1'000'000}),
                      farm("square", 4, [](const std::int64_t& n) { return n * n; }),
                      sink("sum", Sum{})));
}
