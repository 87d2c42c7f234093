// Integrates a function to a given error: a master hands intervals to workers, and those that are
// not yet good enough come back in two halves. Nobody knows how many there will be: the cycle ends
// by itself when nothing is left in it.
//
//     07_master_worker [WORKERS]

#include <piracema/piracema.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>

using namespace piracema;

struct Interval {
  double from = 0, to = 0;
};
struct Estimate {
  Interval interval;
  double integral = 0, error = 0;
};

/// The work: Simpson's rule over an interval, and over its halves.
Estimate integrate(const Interval& interval) {
  const auto f = [](double x) { return std::sin(1 / (x + 0.01)); };
  const auto simpson = [&](double a, double b) {
    return (b - a) / 6 * (f(a) + 4 * f((a + b) / 2) + f(b));
  };
  const double middle = (interval.from + interval.to) / 2;
  const double whole = simpson(interval.from, interval.to);
  const double halves = simpson(interval.from, middle) + simpson(middle, interval.to);
  return {interval, halves, std::abs(halves - whole)};
}

struct Master {
  double sum = 0;

  void operator()(const Interval& interval, Emit<Interval>& tasks, Emit<double>&) const {
    tasks(interval);
  }
  void back(const Estimate& result, Emit<Interval>& tasks, Emit<double>&) {
    const auto [from, to] = result.interval;
    if (result.error < 1e-12 * (to - from) || to - from < 1e-9) {
      sum += result.integral;
    } else {
      tasks({from, (from + to) / 2});
      tasks({(from + to) / 2, to});
    }
  }
  // The cycle is empty.
  void finish(Emit<Interval>&, Emit<double>& out) const { out(sum); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(sum);
  }
};

int main(int argc, char** argv) {
  const auto workers = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 4);
  const auto once = [begun = false]() mutable -> std::optional<Interval> {
    if (begun) return std::nullopt;
    begun = true;
    return Interval{0, 1};
  };
  return run(
      pipeline(source("interval", once),
               master_worker(node("master", Master{}), farm("integrate", workers, integrate)),
               sink("print", [](const double& integral) { std::printf("%.9f\n", integral); })));
}
