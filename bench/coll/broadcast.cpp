// One run of the paper's experiments (001, section 5) under whatever is preloaded: 24 ranks in 6
// sites, broadcasts of 24 bytes from rank 12, before and after its four changes of links, and with
// the changes one by one in between (its Fig. 7).
//
//   bench_coll_broadcast LINKS REPEATS SETTLE_S PARTS
//
// LINKS is the file of the emulator; it is written here. SETTLE_S is how long a library that
// measures may do so before broadcasts; the paper's application waits too while its links are told
// their new values ("mudança de latência", 120 s each). PARTS: 1 ends before the changes, 2 before
// those one by one, 3 has all. Prints one JSON object; bench/coll/paper.py runs it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "coll/mpi/exchange/mpi_types.h"
#include "emulated.h"
#include "topology/trees/classic.h"
#include "topology/trees/earliest_edge.h"
#include "topology/trees/lower_bound.h"
#include "topology/trees/testing.h"

namespace {

using namespace piracema;
using namespace piracema::bench;
using namespace piracema::coll;
using testing::ms;

constexpr int root = 12;

struct Run {
  std::string path;
  int repeats = 1;
  std::chrono::duration<double> settle{};
  /// Of what takes long.
  int few() const { return std::max(1, repeats / 2); }
  void set(const LinkTable& links) const {
    write_links(path, links);
    std::this_thread::sleep_for(settle);
  }
};

/// What the model says of one broadcast: binomial, two levels, minimum spanning, fast, the bound.
std::vector<double> model(const LinkTable& links) {
  const TableCosts costs(links, 0.05e-3, 0);
  return {completion(binomial_tree(24, root), costs),
          completion(two_level_tree(testing::paper_sites(), root), costs),
          completion(minimum_spanning_tree(costs, root), costs),
          completion(fast_tree(costs, root), costs), lower_bound(costs, root)};
}

/// Broadcasts from the moment of the changes on, one after the other, until they are as fast as
/// they can be, or for twice the time that an engine is given to settle.
void adapt(const Run& run, const LinkTable& after) {
  write_links(run.path, after);
  const Time changed = now();
  const double bound = model(after).back();
  std::vector<double> adapting;
  const double most = std::max(3.0, 2 * run.settle.count());
  double since = 0;
  do {
    PMPI_Barrier(MPI_COMM_WORLD);
    since = in_s(now() - changed);
    PMPI_Bcast(&since, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    adapting.push_back(broadcasts(root, 1));
  } while (adapting.back() > 1.1 * bound && since < most);
  print("adapting_s", adapting);
  print("change_to_first_fast_s", {adapting.back() <= 1.1 * bound ? since : -1});
}

/// Fig. 7: four broadcasts, a link that fails, four, one that recovers, and so on; which links the
/// paper took it does not say.
void one_by_one(const Run& run) {
  LinkTable links = testing::paper_links_before_changes();
  const struct {
    Rank from, to;
    double latency;
  } changes[] = {{4, 6, 9'999}, {0, 2, 6'000}, {12, 20, 45}, {12, 16, 21}};
  run.set(links);
  std::vector<double> took{broadcasts(root, 4)};
  for (const auto& [from, to, latency] : changes) {
    links.set_both(from, to, {latency * ms, 0});
    run.set(links);
    took.push_back(broadcasts(root, 4));
  }
  print("one_by_one_4_s", took);
}

/// Figs. 5 and 6: all four at once.
void at_once(const Run& run) {
  const LinkTable after = testing::paper_links_after_changes();
  run.set(testing::paper_links_before_changes());
  adapt(run, after);
  std::this_thread::sleep_for(run.settle);
  print("after_1_s", repeat_broadcasts(root, 1, run.repeats));
  print("after_16_s", repeat_broadcasts(root, 16, run.few()));
}

}  // namespace

int main(int argc, char** argv) {
  if (!begin(argc, argv, "LINKS REPEATS SETTLE_S PARTS", 24)) return 2;
  const Run run{argv[1], std::max(1, std::atoi(argv[2])),
                std::chrono::duration<double>(std::atof(argv[3]))};
  const int parts = std::atoi(argv[4]);
  const LinkTable table1 = testing::paper_links();
  if (my_rank() == 0) std::printf("{");
  print("model_table1", model(table1));
  print("model_after", model(testing::paper_links_after_changes()));

  run.set(table1);
  // The first one has the paper's engine make its tree.
  print("first_s", {broadcasts(root, 1)});
  std::this_thread::sleep_for(run.settle);
  print("table1_1_s", repeat_broadcasts(root, 1, run.repeats));
  for (const int count : {4, 8, 16}) {
    const std::string name = "table1_" + std::to_string(count) + "_s";
    print(name.c_str(), repeat_broadcasts(root, count, run.few()));
  }
  if (parts >= 2) at_once(run);
  if (parts >= 3) one_by_one(run);
  print("parts", {static_cast<double>(parts)}, "}");
  MPI_Finalize();
  return 0;
}
