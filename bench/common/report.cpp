#include "bench/common/report.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace piracema::bench {

namespace {

void print_rate(const std::string& name, const std::vector<Sample>& samples, const Work& work) {
  std::vector<double> wall, cpu;
  for (const Sample& sample : samples) {
    wall.push_back(sample.wall_s);
    cpu.push_back(sample.cpu_s);
  }
  const double millions = static_cast<double>(work.items) / 1e6;
  const double seconds = summarize(wall).median;
  std::printf("  %-24s %8.3f M %s/s", name.c_str(), millions / seconds, work.unit.c_str());
  if (work.bytes != 0) {
    std::printf(" %8.0f MB/s", millions * static_cast<double>(work.bytes) / seconds);
  }
  std::printf(" %8.4f CPU s a million %s\n", summarize(cpu).median / millions, work.unit.c_str());
}

}  // namespace

void Report::compare(const std::string& title, const Side& a, const Side& b, const Work& work) {
  if (exit_code_ != 0) return;
  auto comparison = bench::compare(title, a, b, settings_);
  if (!comparison) {
    std::fprintf(stderr, "%s: %s\n", program_.c_str(), comparison.error().message.c_str());
    exit_code_ = comparison.error().code == Errc::usage ? 2 : 1;
    return;
  }
  if (!settings_.json) {
    std::printf("%s", to_text(*comparison).c_str());
    print_rate(comparison->name_a, comparison->a, work);
    print_rate(comparison->name_b, comparison->b, work);
    std::printf("\n");
    std::fflush(stdout);
  }
  comparisons_.push_back(std::move(*comparison));
}

int Report::finish() const {
  if (settings_.json && exit_code_ == 0) {
    std::puts(to_json(this_machine(), comparisons_).dump(2).c_str());
  }
  return exit_code_;
}

}  // namespace piracema::bench
