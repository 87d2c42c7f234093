// How well is the time of a checkpoint foretold? The predictor of src/ckpt beside what it has to
// beat: a regression on the size alone with the worst ratio so far as its margin, and the same with
// fixed margins. On made-up stores, from seeds; each line is the same on every machine.
//
//   bench_ckpt_predictor [SEEDS [DUMPS]]
//
// A deadline is missed when a dump takes longer than was kept free for it; what was kept free and
// not needed is the slack, in multiples of what the dump took.
#include "ckpt/predictor.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "ckpt/planner.h"
#include "ckpt/store_trace.h"

namespace {

using namespace piracema::ckpt;

/// t = a + b * bytes by least squares, and the worst ratio of observed by predicted.
class SizeOnly {
 public:
  double predict(double bytes) const {
    const double spread = n_ * xx_ - x_ * x_;
    if (n_ < 3 || spread <= 0) return 1 + bytes / 100e6;
    const double slope = (n_ * xy_ - x_ * y_) / spread;
    return std::max(0.02, (y_ - slope * x_) / n_ + slope * bytes);
  }
  double worst() const { return worst_; }
  void learn(double bytes, double seconds) {
    if (n_ >= 3) worst_ = std::max(worst_, seconds / predict(bytes));
    n_ += 1;
    x_ += bytes;
    y_ += seconds;
    xx_ += bytes * bytes;
    xy_ += bytes * seconds;
  }

 private:
  double n_ = 0, x_ = 0, y_ = 0, xx_ = 0, xy_ = 0, worst_ = 1;
};

/// What a way of foretelling has cost.
struct Tally {
  std::string name;
  std::size_t dumps = 0, missed = 0;
  std::vector<double> slack;

  void note(double kept, double took) {
    dumps += 1;
    if (took > kept) missed += 1;
    slack.push_back(std::max(0.0, kept / took - 1));
  }
  void print(const char* store) {
    std::nth_element(slack.begin(), slack.begin() + static_cast<std::ptrdiff_t>(slack.size() / 2),
                     slack.end());
    std::printf("%-10s %-22s missed %6.2f %%   median slack %5.2f\n", store, name.c_str(),
                100.0 * static_cast<double>(missed) / static_cast<double>(dumps),
                slack[slack.size() / 2]);
  }
};

void measure(const char* name, StoreKind kind, std::uint64_t seeds, int dumps) {
  std::vector<Tally> ways(7);
  const char* const names[] = {
      "plan for 300 s", "predictor p99", "predictor p95", "size only, worst ratio",
      "size only",      "size only x2",  "size only x3"};
  for (std::size_t i = 0; i < ways.size(); ++i) ways[i].name = names[i];
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    StoreTrace store(kind, seed);
    Predictor predictor;
    SizeOnly size;
    for (int i = 0; i < dumps; ++i) {
      const auto [features, took] = store.next();
      const DumpForecast forecast = predictor.forecast(features);
      const double plain = size.predict(features.bytes);
      // The first four train all of them.
      const Plan plan = plan_dump({}, 300, 300, forecast);
      const double kept[] = {plan.duration, forecast.p99, forecast.p95, plain * size.worst(),
                             plain,         plain * 2,    plain * 3};
      for (std::size_t k = 0; i >= 4 && k < ways.size(); ++k) ways[k].note(kept[k], took);
      predictor.learn(features, took);
      size.learn(features.bytes, took);
    }
  }
  for (Tally& way : ways) way.print(name);
}

}  // namespace

int main(int argc, char** argv) {
  const long seeds = argc > 1 ? std::atol(argv[1]) : 20,
             dumps = argc > 2 ? std::atol(argv[2]) : 200;
  if (seeds < 1 || dumps < 10 || dumps > 1'000'000) {
    std::fprintf(stderr, "want SEEDS from 1 on and DUMPS from 10 on\n");
    return 2;
  }
  const auto measured = [&](const char* name, StoreKind kind) {
    measure(name, kind, static_cast<std::uint64_t>(seeds), static_cast<int>(dumps));
  };
  measured("calm", StoreKind::calm);
  measured("contended", StoreKind::contended);
  measured("shared", StoreKind::shared);
  measured("changing", StoreKind::changing);
  return 0;
}
