// The program of paper 004's figure 5, to be given groups that break the rules:
//
//     grouped RULE [ITEMS]
//
// Prints the sum of its items; without end when ITEMS is 0.
#include <piracema/piracema.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

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

void create_groups(Graph& program, const std::string& rule) {
  if (rule == "none") return;
  createGroup(program, "G1", {"Sc"});
  createGroup(program, "G2", {"L", "R"}) << "L/0" << "R/0" << "R/1";
  createGroup(program, "G3", {"L", "R"}) << "L/1" << "R/2" << "R/3";
  createGroup(program, rule == "name" ? "G1" : "G4", {"Sk"});
  if (rule == "brick") program.groups[0].parent = {"X"};
  if (rule == "level") program.groups[0].parent = {"L/0"};
  if (rule == "single") program.groups[1] = {"G2", {"Sc"}, {}};
  if (rule == "whole") program.groups[3] = {"G4", {}, {}};
  if (rule == "member") program.groups[0].members = {"Sk"};
  if (rule == "doubled") program.groups[2].members = {"L/1", "R"};
  if (rule == "missing") program.groups[2].members = {"L/1", "R/2"};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::int64_t items = argc > 2 ? std::atoll(argv[2]) : 1'000;
  const auto same = [](const std::int64_t& n) { return n; };
  const std::int64_t last = items > 0 ? items : std::numeric_limits<std::int64_t>::max() - 1;
  Graph program = pipeline(source("Sc", Sequence{1, last}), farm("L", 2, same), farm("R", 4, same),
                           sink("Sk", Sum{}));
  create_groups(program, argv[1]);
  return run(program);
}
