// Broadcasts and reductions among three sites whose links change, under whatever is preloaded, over
// real TCP: 1 ms within a site and 20 ms between, then 200 ms between rank 0 and the second site.
//
//   bench_coll_sites LINKS SETTLE_S REPEATS
//
// LINKS is the file of whoever delays packets (bench/coll/wan.cpp); it is written here. Prints one
// JSON object; bench/coll/wan.py runs it.
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

constexpr Rank sites = 3;
/// Over these links, whatever they are, and a machine that is busy.
constexpr Time barrier_takes = std::chrono::milliseconds(700);

LinkTable links_of(Rank size, bool degraded) {
  LinkTable links(size, {20 * ms, 0});
  const auto site_of = [&](Rank rank) { return std::min(rank / (size / sites), sites - 1); };
  for (Rank a = 0; a < size; ++a) {
    for (Rank b = 0; b < a; ++b) {
      if (site_of(a) == site_of(b)) links.set_both(a, b, {1 * ms, 0});
      if (degraded && b == 0 && site_of(a) == 1) links.set_both(a, b, {200 * ms, 0});
    }
  }
  return links;
}

void measure(const char* when, const LinkTable& links, int repeats) {
  const TableCosts costs(links, 0.05e-3, 0);
  const auto name = [&](const char* what) { return std::string(when) + "_" + what; };
  print(name("model_s").c_str(), {completion(binomial_tree(links.size(), 0), costs),
                                  completion(fast_tree(costs, 0), costs)});
  print(name("broadcast_s").c_str(), repeat_broadcasts(0, 1, repeats, barrier_takes));
  std::vector<double> sums;
  for (int i = 0; i < repeats; ++i) {
    sums.push_back(seconds_of(
        0,
        [] {
          double value = 1, sum = 0;
          MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        },
        barrier_takes));
  }
  print(name("allreduce_s").c_str(), sums);
}

/// As programs do that are at work: windows pass, ways are tried, connections are made.
void work(double seconds) {
  const Time until =
      now() + std::chrono::duration_cast<Time>(std::chrono::duration<double>(seconds));
  int on = 1;
  while (on != 0) {
    double value = 1, sum = 0;
    MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    on = now() < until;
    PMPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 4 || size < 6) {
    if (my_rank() == 0) std::fprintf(stderr, "want LINKS SETTLE_S REPEATS and 6 ranks or more\n");
    MPI_Finalize();
    return 2;
  }
  const double settle = std::atof(argv[2]);
  const int repeats = std::max(1, std::atoi(argv[3]));
  if (my_rank() == 0) std::printf("{");
  for (const bool degraded : {false, true}) {
    const LinkTable links = links_of(static_cast<Rank>(size), degraded);
    write_links(argv[1], links);
    work(settle);
    measure(degraded ? "after" : "before", links, repeats);
  }
  print("end", {}, "}");
  MPI_Finalize();
  return 0;
}
