// How well is the time of a checkpoint foretold? The predictor of src/ckpt beside what it has to
// beat: a regression on the size alone with the worst ratio so far as its margin, and the same with
// fixed margins. On made-up stores, from seeds; each line is the same on every machine.
//
//   bench_ckpt_predictor [SEEDS [DUMPS]]
//   bench_ckpt_predictor --replay DIRECTORY
//
// The second: what they would have said of the dumps to a store that are recorded in its
// .piracema-store (or in any directory's store.json), each from those before it.
//
// "sampled": where a plan keeps too much of a window samples are written first (Sampling).
//
// A deadline is missed when a dump takes longer than was kept free for it; what was kept free and
// not needed is the slack, in multiples of what the dump took.
#include "forecast/dump/predictor.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forecast/dump/planner.h"
#include "forecast/store/sampling.h"
#include "forecast/store/store_record.h"
#include "forecast/store/store_trace.h"

namespace {

using namespace piracema::ckpt;

constexpr double window_seconds = 300, kept_share = 0.1;

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
  std::size_t dumps = 0, missed = 0, most_used = 0;
  std::vector<double> slack;

  void note(double kept, double took) {
    dumps += 1;
    if (took > kept) missed += 1;
    if (kept <= kept_share * window_seconds) most_used += 1;
    slack.push_back(std::max(0.0, kept / took - 1));
  }
  void print(const char* store) {
    std::nth_element(slack.begin(), slack.begin() + static_cast<std::ptrdiff_t>(slack.size() / 2),
                     slack.end());
    const auto percent = [&](std::size_t count) {
      return 100.0 * static_cast<double>(count) / static_cast<double>(dumps);
    };
    std::printf("%-19s %-22s missed %6.2f %%   median slack %5.2f   90 %% used in %6.2f %%\n",
                store, name.c_str(), percent(missed), slack[slack.size() / 2], percent(most_used));
  }
};

/// All ways beside each other, on the dumps of one store after the other.
class Contest {
 public:
  explicit Contest(std::string name) : name_(std::move(name)) {}

  void begin_store() {
    predictor_ = Predictor();
    size_ = SizeOnly();
    dumps_ = 0;
  }
  void next(const DumpFeatures& features, double took) {
    const DumpForecast forecast = predictor_.forecast(features);
    const double plain = size_.predict(features.bytes);
    const Plan plan = plan_dump({}, window_seconds, window_seconds, forecast);
    const double kept[] = {plan.duration, forecast.p99, forecast.p95, plain * size_.worst(),
                           plain,         plain * 2,    plain * 3};
    // The first four train all of them.
    for (std::size_t k = 0; dumps_ >= 4 && k < ways_.size(); ++k) ways_[k].note(kept[k], took);
    dumps_ += 1;
    predictor_.learn(features, took);
    size_.learn(features.bytes, took);
  }
  /// As many as a window has for this dump.
  void sample_for(const DumpFeatures& features, StoreTrace& store) {
    const SamplingSettings most;
    for (std::size_t i = 0; i < most.most; ++i) {
      const Plan plan =
          plan_dump({}, window_seconds, window_seconds, predictor_.forecast(features));
      if (plan.used >= 1 - kept_share) return;
      const auto [known, took] =
          store.sample(std::min(most.bytes_most, most.share * features.bytes));
      predictor_.learn(known, took);
    }
  }
  void learn_sample(const DumpFeatures& features, double took) { predictor_.learn(features, took); }
  void print() {
    for (Tally& way : ways_) way.print(name_.c_str());
  }

 private:
  std::string name_;
  std::vector<Tally> ways_ = {
      {"plan for 300 s"}, {"predictor p99"}, {"predictor p95"}, {"size only, worst ratio"},
      {"size only"},      {"size only x2"},  {"size only x3"}};
  Predictor predictor_;
  SizeOnly size_;
  std::size_t dumps_ = 0;
};

void make_up(const char* name, StoreKind kind, std::uint64_t seeds, int dumps, bool samples) {
  Contest contest(name);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    contest.begin_store();
    StoreTrace store(kind, seed);
    for (int i = 0; i < dumps; ++i) {
      const auto [features, took] = store.next();
      if (samples) contest.sample_for(features, store);
      contest.next(features, took);
    }
  }
  contest.print();
}

int replay(const std::string& place) {
  const auto dumps = read_past_dumps(place);
  if (!dumps) {
    std::fprintf(stderr, "%s\n", dumps.error().message.c_str());
    return 1;
  }
  Contest contest("recorded");
  contest.begin_store();
  for (const PastDump& one : *dumps) {
    if (one.features.sample > 0) {
      contest.learn_sample(one.features, one.seconds);
    } else {
      contest.next(one.features, one.seconds);
    }
  }
  contest.print();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--replay") return replay(argv[2]);
  const long seeds = argc > 1 ? std::atol(argv[1]) : 20,
             dumps = argc > 2 ? std::atol(argv[2]) : 200;
  if (seeds < 1 || dumps < 10 || dumps > 1'000'000) {
    std::fprintf(stderr, "want SEEDS from 1 on and DUMPS from 10 on\n");
    return 2;
  }
  const auto measured = [&](const char* name, StoreKind kind) {
    for (const bool samples : {false, true}) {
      const std::string way = std::string(name) + (samples ? ", sampled" : "");
      make_up(way.c_str(), kind, static_cast<std::uint64_t>(seeds), static_cast<int>(dumps),
              samples);
    }
  };
  measured("calm", StoreKind::calm);
  measured("contended", StoreKind::contended);
  measured("shared", StoreKind::shared);
  measured("changing", StoreKind::changing);
  return 0;
}
