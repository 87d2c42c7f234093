// How long the paper's engine takes for a round on links of its Table 1, and how many letters: by
// virtual time, so the machine does not matter. Letters straight over their links, and around slow
// ones.
//
//   bench_coll_rounds
#include <cstdio>
#include <queue>
#include <vector>

#include "base/clock.h"
#include "topology/measure/detours.h"
#include "topology/mst/adapter.h"
#include "topology/trees/classic.h"
#include "topology/trees/testing.h"

using namespace piracema;
using namespace piracema::coll;
using testing::ms;

namespace {

/// The adapters of all ranks, and letters that take as long as their ways.
class Net {
 public:
  Net(Rank size, bool detours) : detours_(detours), last_(std::size_t{size} * size, 0) {
    for (Rank rank = 0; rank < size; ++rank) adapters_.emplace_back(rank, 0.1);
  }

  /// A round with these links, begun by all at once: seconds until it is over everywhere.
  double round(const LinkTable& links) {
    find_ways(links);
    letters_ = 0;
    const double began = time_;
    for (Rank rank = 0; rank < adapters_.size(); ++rank) {
      std::vector<std::pair<Rank, double>> costs;
      for (Rank to = 0; to < adapters_.size(); ++to) {
        if (to != rank) costs.emplace_back(to, links.at(rank, to).latency);
      }
      adapters_[rank].want();
      post(rank, adapters_[rank].begin(costs));
    }
    while (!air_.empty()) {
      const Flying next = air_.top();
      air_.pop();
      time_ = next.at;
      post(next.to, adapters_[next.to].on(next.from, next.letter));
    }
    return time_ - began;
  }
  std::size_t letters() const { return letters_; }

 private:
  struct Flying {
    double at = 0;
    std::size_t number = 0;
    Rank from = 0, to = 0;
    mst::Letter letter;
    bool operator<(const Flying& other) const {
      return std::pair(at, number) > std::pair(other.at, other.number);
    }
  };

  void find_ways(const LinkTable& links) {
    const auto size = static_cast<Rank>(adapters_.size());
    ways_.assign(last_.size(), 0);
    for (Rank from = 0; from < size; ++from) {
      const Detours around(links, from);
      for (Rank to = 0; to < size; ++to) {
        ways_[from * size + to] = detours_ ? around.latency(to) : links.at(from, to).latency;
      }
    }
  }
  void post(Rank from, const mst::Adapter::Letters& letters) {
    for (const auto& [to, letter] : letters) {
      // Links are FIFO.
      double& last = last_[from * adapters_.size() + to];
      last = std::max(last, time_ + ways_[from * adapters_.size() + to]);
      air_.push({last, ++posted_, from, to, letter});
      letters_ += 1;
    }
  }

  const bool detours_;
  std::vector<mst::Adapter> adapters_;
  std::vector<double> last_, ways_;
  std::priority_queue<Flying> air_;
  double time_ = 0;
  std::size_t posted_ = 0, letters_ = 0;
};

void print(const char* what, Net& net, const LinkTable& links) {
  const double took = net.round(links);
  std::printf("  %-44s %7.2f s, %4zu letters\n", what, took, net.letters());
}

}  // namespace

int main() {
  for (const bool detours : {false, true}) {
    std::printf("letters %s\n", detours ? "around slow links" : "straight over their links");
    LinkTable links = testing::paper_links();
    Net net(links.size(), detours);
    print("the first tree", net, links);
    print("nothing has changed", net, links);
    print("(0, 2) and (12, 16) get worse (before)", net, testing::paper_links_before_changes());
    print("the four changes of section 5", net, testing::paper_links_after_changes());
    links = testing::paper_links_after_changes();
    links.set_both(12, 16, {900 * ms, 0});
    print("a link of the tree gets worse", net, links);
    links.set_both(12, 16, {21 * ms, 0});
    print("and better again", net, links);
  }
  return 0;
}
