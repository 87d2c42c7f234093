// One sequence of changes (bench/coll/changing.h) on emulated links, under whatever is preloaded: a
// broadcast after each change, when the library has measured the links, beside what the model says.
//
//   bench_coll_changes_run LINKS SEED SETTLE_S
//
// LINKS is the file of the emulator; it is written here. Prints one JSON object.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "changing.h"
#include "coll/mpi/exchange/mpi_types.h"
#include "emulated.h"
#include "topology/trees/classic.h"
#include "topology/trees/earliest_edge.h"
#include "topology/trees/sites.h"

using namespace piracema;
using namespace piracema::bench;
using namespace piracema::coll;

int main(int argc, char** argv) {
  if (!begin(argc, argv, "LINKS SEED SETTLE_S", 0)) return 2;
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Changing net(static_cast<std::uint64_t>(std::atoll(argv[2])), static_cast<Rank>(size));
  const auto settle = std::chrono::duration<double>(std::atof(argv[3]));
  // As the library does: sites are what the links say at first.
  const Tree fixed = two_level_tree(find_sites(TableCosts(net.links, 0, 0)), net.root);
  const int root = static_cast<int>(net.root);
  write_links(argv[1], net.links);
  std::this_thread::sleep_for(settle);
  broadcasts(root, 1);
  std::vector<double> measured, model_two_level, model_fast;
  for (int change = 0; change < Changing::changes; ++change) {
    net.change();
    write_links(argv[1], net.links);
    std::this_thread::sleep_for(settle);
    const auto some = repeat_broadcasts(root, 1, 3);
    measured.push_back(*std::min_element(some.begin(), some.end()));
    const TableCosts costs(net.links, 0.05e-3, 0);
    model_two_level.push_back(completion(fixed, costs));
    model_fast.push_back(completion(fast_tree(costs, net.root), costs));
  }
  if (my_rank() == 0) std::printf("{");
  print("measured_s", measured);
  print("model_two_level_s", model_two_level);
  print("model_tree_s", model_fast, "}");
  MPI_Finalize();
  return 0;
}
