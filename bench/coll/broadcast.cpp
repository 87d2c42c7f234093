// One run of the paper's experiment (001, section 5) under whatever is preloaded: 24 ranks in 6
// sites, broadcasts of 24 bytes from rank 12, before and after its four changes of links.
//
//   bench_coll_broadcast LINKS REPEATS SETTLE_S
//
// LINKS is the file of the emulator; it is written here. SETTLE_S is how long a library that
// measures may do so before the first broadcast. Prints one JSON object; bench/coll/paper.py runs
// it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "coll/mpi/mpi_types.h"
#include "base/clock.h"
#include "coll/trees/classic.h"
#include "coll/trees/earliest_edge.h"
#include "coll/trees/lower_bound.h"
#include "coll/trees/testing.h"

namespace {

using namespace piracema;
using namespace piracema::coll;

constexpr int root = 12;
int me, size;

double in_s(Time time) { return std::chrono::duration<double>(time).count(); }

/// Rank 0 replaces the file in one step.
void write_links(const std::string& path, const LinkTable& links) {
  if (me == 0) {
    std::ofstream file(path + ".new");
    for (Rank a = 0; a < links.size(); ++a) {
      for (Rank b = 0; b < a; ++b) {
        char line[64];
        std::snprintf(line, sizeof line, "%u %u %.6fms\n", a, b, links.at(a, b).latency * 1e3);
        file << line;
      }
    }
    file.close();
    std::rename((path + ".new").c_str(), path.c_str());
  }
  PMPI_Barrier(MPI_COMM_WORLD);
}

/// From the root's first call until the last rank has the last message. All ranks have one clock.
double broadcasts(int count) {
  PMPI_Barrier(MPI_COMM_WORLD);
  std::int64_t began = now().count();
  char message[24] = {};
  for (int i = 0; i < count; ++i)
    MPI_Bcast(message, sizeof message, MPI_CHAR, root, MPI_COMM_WORLD);
  std::int64_t ended = now().count(), last = 0;
  PMPI_Bcast(&began, 1, MPI_INT64_T, root, MPI_COMM_WORLD);
  PMPI_Allreduce(&ended, &last, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  return in_s(Time(last - began));
}

std::string list(const std::vector<double>& values) {
  std::string out = "[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    char text[32];
    std::snprintf(text, sizeof text, "%s%.6f", i == 0 ? "" : ", ", values[i]);
    out += text;
  }
  return out + "]";
}

void print(const char* name, const std::vector<double>& values, const char* end = ",") {
  if (me == 0) std::printf("\"%s\": %s%s\n", name, list(values).c_str(), end);
}

std::vector<double> repeat(int repeats, int count) {
  std::vector<double> out;
  for (int i = 0; i < repeats; ++i) out.push_back(broadcasts(count));
  return out;
}

/// What the model says of one broadcast: binomial, two levels, minimum spanning, fast, the bound.
std::vector<double> model(const LinkTable& links) {
  const TableCosts costs(links, 0.05e-3, 0);
  return {completion(binomial_tree(24, root), costs),
          completion(two_level_tree(testing::paper_sites(), root), costs),
          completion(minimum_spanning_tree(costs, root), costs),
          completion(fast_tree(costs, root), costs), lower_bound(costs, root)};
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 4 || size != 24) {
    if (me == 0) std::fprintf(stderr, "want LINKS REPEATS SETTLE_S and 24 ranks\n");
    MPI_Finalize();
    return 2;
  }
  const std::string path = argv[1];
  const int repeats = std::max(1, std::atoi(argv[2]));
  const auto settle = std::chrono::duration<double>(std::atof(argv[3]));
  const LinkTable table1 = testing::paper_links(), before = testing::paper_links_before_changes(),
                  after = testing::paper_links_after_changes();
  if (me == 0) std::printf("{");
  print("model_table1", model(table1));
  print("model_after", model(after));

  write_links(path, table1);
  std::this_thread::sleep_for(settle);
  print("first_s", {broadcasts(1)});  // With engine mst it builds the tree.
  print("table1_one_s", repeat(repeats, 1));
  print("table1_16_s", repeat(std::max(1, repeats / 2), 16));
  write_links(path, before);
  std::this_thread::sleep_for(settle);

  // The changes; broadcasts go on, one after the other, until they are as fast as they can be.
  write_links(path, after);
  const Time changed = now();
  const double bound = model(after).back();
  std::vector<double> adapting;
  double since = 0;
  do {
    PMPI_Barrier(MPI_COMM_WORLD);
    since = in_s(now() - changed);
    PMPI_Bcast(&since, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    adapting.push_back(broadcasts(1));
  } while (adapting.back() > 1.1 * bound && since < 3 && adapting.size() < 50);
  print("adapting_s", adapting);
  print("change_to_first_fast_s", {adapting.back() <= 1.1 * bound ? since : -1});
  std::this_thread::sleep_for(settle);
  print("after_one_s", repeat(repeats, 1));
  print("after_16_s", repeat(std::max(1, repeats / 2), 16), "}");
  MPI_Finalize();
  return 0;
}
