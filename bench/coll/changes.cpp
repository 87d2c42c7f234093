// What a tree that follows the links is worth against one of two levels that does not, by the
// model, over random networks that change. One JSON object; bench/coll/changes.py draws it, and
// holds some of it against the emulator.
//
//   bench_coll_changes [SEQUENCES]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "changing.h"
#include "topology/trees/classic.h"
#include "topology/trees/earliest_edge.h"
#include "topology/trees/lower_bound.h"

using namespace piracema;
using namespace piracema::bench;
using namespace piracema::coll;

namespace {

void print(const char* name, std::vector<double> values, const char* end) {
  std::sort(values.begin(), values.end());
  std::printf("\"%s\": [", name);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::printf("%s%.4f", i == 0 ? "" : ", ", values[i]);
  }
  std::printf("]%s\n", end);
}

}  // namespace

int main(int argc, char** argv) {
  const int sequences = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1'000;
  // Over each sequence: the sum of one broadcast after each change, by ours.
  std::vector<double> of_two_level, of_mst, over_bound;
  for (int seed = 1; seed <= sequences; ++seed) {
    Changing net(static_cast<std::uint64_t>(seed));
    const Tree fixed = two_level_tree(net.sites, net.root);
    double two_level = 0, mst = 0, ours = 0, bound = 0;
    for (int change = 0; change < Changing::changes; ++change) {
      net.change();
      const TableCosts costs(net.links, 0.05e-3, 0);
      two_level += completion(fixed, costs);
      mst += completion(minimum_spanning_tree(costs, net.root), costs);
      ours += completion(fast_tree(costs, net.root), costs);
      bound += lower_bound(costs, net.root);
    }
    of_two_level.push_back(two_level / ours);
    of_mst.push_back(mst / ours);
    over_bound.push_back(ours / bound);
  }
  std::printf("{");
  print("two_level", of_two_level, ",");
  print("mst", of_mst, ",");
  print("over_bound", over_bound, "}");
  return 0;
}
