// What a program sees while a link of the tree becomes slow: 24 ranks in the paper's six sites,
// which broadcast and reduce all the time.
//
//   bench_coll_adapting LINKS SETTLE_S OPERATIONS
//
// LINKS is the file of the emulator; it is written here. After SETTLE_S all links of rank 12 to the
// next site take a second more, but those of its neighbours do not. Prints one JSON object: for
// each operation when it began after the change, and what it took; and what the model says of the
// tree of before on the links of after, and of the best one. bench/coll/adapting.py runs it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "coll/mpi/exchange/mpi_types.h"
#include "emulated.h"
#include "topology/trees/classic.h"
#include "topology/trees/earliest_edge.h"
#include "topology/trees/testing.h"

using namespace piracema;
using namespace piracema::bench;
using namespace piracema::coll;
using testing::ms;

namespace {

constexpr int root = 12;

/// A broadcast, or an allreduce, whose values come up to rank 0 and go down again.
double operation(bool reduces) {
  return seconds_of(reduces ? 0 : root, [&] {
    double value = 1, sum = 0;
    if (reduces) {
      MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    } else {
      MPI_Bcast(&value, 1, MPI_DOUBLE, root, MPI_COMM_WORLD);
    }
  });
}

struct Series {
  std::vector<double> at, took;
};

void model(const char* name, const Tree& before, const LinkTable& after, Rank from) {
  const TableCosts costs(after, 0.05e-3, 0);
  print(name, {completion(before, costs), completion(fast_tree(costs, from), costs)});
}

}  // namespace

int main(int argc, char** argv) {
  if (!begin(argc, argv, "LINKS SETTLE_S OPERATIONS", 24)) return 2;
  // Sites of the paper, ten times as near.
  LinkTable before = testing::paper_links();
  for (Rank a = 0; a < 24; ++a) {
    for (Rank b = 0; b < a; ++b) before.set_both(a, b, {before.at(a, b).latency / 10, 0});
  }
  const TableCosts costs(before, 0.05e-3, 0);
  const Tree first_broadcast = fast_tree(costs, root), first_reduction = fast_tree(costs, 0);
  LinkTable after = before;
  for (const auto& [tree, from] :
       {std::pair{&first_broadcast, Rank{root}}, {&first_reduction, 0}}) {
    for (const Rank child : tree->children[from]) {
      if (child / 4 != from / 4) after.set_both(from, child, {1'000 * ms, 0});
    }
  }
  write_links(argv[1], before);
  std::this_thread::sleep_for(std::chrono::duration<double>(std::atof(argv[2])));
  for (int i = 0; i < 40; ++i) operation(i % 2 == 1);

  write_links(argv[1], after);
  const Time changed = now();
  Series series[2];
  for (int i = 0; i < std::atoi(argv[3]); ++i) {
    Series& one = series[i % 2];
    one.at.push_back(in_s(now() - changed));
    one.took.push_back(operation(i % 2 == 1));
  }
  if (my_rank() == 0) std::printf("{");
  model("model_broadcast_s", first_broadcast, after, root);
  model("model_up_s", first_reduction, after, 0);
  print("broadcast_at_s", series[0].at);
  print("broadcast_s", series[0].took);
  print("allreduce_at_s", series[1].at);
  print("allreduce_s", series[1].took, "}");
  MPI_Finalize();
  return 0;
}
