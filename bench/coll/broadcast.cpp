// One experiment of paper 001, section 5, under whatever is preloaded: 24 ranks in 6 sites, and
// broadcasts of 24 bytes from rank 12.
//
//   bench_coll_broadcast LINKS before TREE REPEATS MAKING_S ADAPTING_S    Table 2, Fig. 4: Table 1
//   bench_coll_broadcast LINKS after TREE REPEATS MAKING_S ADAPTING_S     Figs. 5, 6: links change
//   bench_coll_broadcast LINKS between TREE REPEATS MAKING_S ADAPTING_S   Fig. 7: one by one
//   bench_coll_broadcast links before|after|between      prints the links that it begins with
//
// LINKS is the file of the emulator, with these links; changes are written to it. TREE is what the
// library makes: binomial, two-level, mst or tree. It has MAKING_S for that. After a change
// broadcasts go on one after the other until one is as fast as the model says of that tree, or for
// ADAPTING_S: 0 where nothing is adapted. Prints one JSON object; bench/coll/paper.py runs it.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
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
constexpr double as_fast = 1.1;

constexpr std::array<std::string_view, 4> trees{"binomial", "two-level", "mst", "tree"};

/// What the model says of one broadcast along each of these, and the bound.
std::vector<double> model(const LinkTable& links) {
  const TableCosts costs(links, 0.05e-3, 0);
  return {completion(binomial_tree(24, root), costs),
          completion(two_level_tree(testing::paper_sites(), root), costs),
          completion(minimum_spanning_tree(costs, root), costs),
          completion(fast_tree(costs, root), costs), lower_bound(costs, root)};
}

class Experiment {
 public:
  Experiment(std::string path, std::size_t tree, int repeats, double adapting)
      : path_(std::move(path)), tree_(tree), repeats_(repeats), adapting_(adapting) {}

  /// Broadcasts go on meanwhile: without any there is nothing to make a tree for.
  void make_tree(double seconds) {
    while (agreed() < seconds) meanwhile_.push_back(broadcasts(root, 1));
    print("making_meanwhile_s", std::exchange(meanwhile_, {}));
  }

  void before() {
    for (const int count : {1, 4, 8, 16}) {
      const std::string name = "before_" + std::to_string(count) + "_s";
      print(name.c_str(), repeat_broadcasts(root, count, repeats_));
    }
  }

  void after() {
    change(testing::paper_links_after_changes());
    tell("adapting");
    print("after_1_s", repeat_broadcasts(root, 1, repeats_));
    print("after_16_s", repeat_broadcasts(root, 16, repeats_));
  }

  /// Four broadcasts, a link that fails, four, one that recovers, and so on; which links the paper
  /// took it does not say.
  void between() {
    LinkTable links = testing::paper_links_before_changes();
    const struct {
      Rank from, to;
      double latency;
    } changes[] = {{4, 6, 9'999}, {0, 2, 6'000}, {12, 20, 45}, {12, 16, 21}};
    std::vector<double> took{broadcasts(root, 4)};
    for (const auto& [from, to, latency] : changes) {
      links.set_both(from, to, {latency * ms, 0});
      change(links);
      took.push_back(broadcasts(root, 4));
    }
    tell("adapting");
    print("between_4_s", took);
  }

 private:
  void change(const LinkTable& links) {
    write_links(path_, links);
    if (adapting_ <= 0) return;
    const double fast = as_fast * model(links)[tree_];
    const double since = agreed();
    changed_at_.push_back(since);
    double began = since, took = 0;
    do {
      began = agreed();
      took = broadcasts(root, 1);
      meanwhile_.push_back(took);
    } while (took > fast && began - since < adapting_);
    fast_at_.push_back(took <= fast ? began : -1);
  }

  /// Seconds since MPI_Init at rank 0, where all are now.
  double agreed() const {
    PMPI_Barrier(MPI_COMM_WORLD);
    double here = in_s(now() - begun_);
    PMPI_Bcast(&here, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return here;
  }

  /// When links changed, when the first fast broadcast began (-1: none did), and what each took
  /// until then.
  void tell(const std::string& what) {
    print((what + "_changed_at_s").c_str(), std::exchange(changed_at_, {}));
    print((what + "_fast_at_s").c_str(), std::exchange(fast_at_, {}));
    print((what + "_meanwhile_s").c_str(), std::exchange(meanwhile_, {}));
  }

  const std::string path_;
  const std::size_t tree_;
  const int repeats_;
  const double adapting_;
  const Time begun_ = now();
  std::vector<double> changed_at_, fast_at_, meanwhile_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[2] : "";
  const LinkTable first =
      what == "before" ? testing::paper_links() : testing::paper_links_before_changes();
  if (argc == 3 && std::string_view(argv[1]) == "links") {
    std::printf("%s", text_of(first).c_str());
    return 0;
  }
  if (!begin(argc, argv, "LINKS before|after|between TREE REPEATS MAKING_S ADAPTING_S", 24)) {
    return 2;
  }
  const auto tree =
      static_cast<std::size_t>(std::find(trees.begin(), trees.end(), argv[3]) - trees.begin());
  Experiment experiment(argv[1], std::min(tree, trees.size() - 1), std::max(1, std::atoi(argv[4])),
                        std::atof(argv[6]));
  if (my_rank() == 0) std::printf("{");
  print("model_before", model(testing::paper_links()));
  print("model_after", model(testing::paper_links_after_changes()));
  experiment.make_tree(std::atof(argv[5]));
  if (what == "before") experiment.before();
  if (what == "after") experiment.after();
  if (what == "between") experiment.between();
  print("ranks", {24}, "}");
  MPI_Finalize();
  return 0;
}
