// Paper 004's figure 5: a source, an all-to-all of two and four workers, a sink; cut into four
// groups, two of them through the all-to-all.
//
//     08_groups                                                  in this process, with threads
//     piracema run --groups examples/08_groups.json 08_groups    four processes
#include <piracema/piracema.h>

#include <cstdint>
#include <cstdio>

using namespace piracema;

namespace {

struct Sum {
  std::int64_t sum = 0;
  void operator()(const std::int64_t& n) { sum += n; }
  void finish() { std::printf("sum %lld\n", static_cast<long long>(sum)); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(sum);
  }
};

}  // namespace

int main() {
  const auto left = [](const std::int64_t& n) { return n + 1; };
  const auto right = [](const std::int64_t& n) { return 2 * n; };
  Graph program = pipeline(source("Sc", Sequence{1, 100'000}), farm("L", 2, left),
                           farm("R", 4, right).by_key([](const std::int64_t& n) { return n; }),
                           sink("Sk", Sum{}));

  createGroup(program, "G1", {"Sc"});
  createGroup(program, "G2", {"L", "R"}) << "L/0" << "R/0" << "R/1";
  createGroup(program, "G3", {"L", "R"}) << "L/1" << "R/2" << "R/3";
  createGroup(program, "G4", {"Sk"});
  return run(program);
}
