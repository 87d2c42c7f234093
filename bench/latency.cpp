// What an item of 64 bytes has to wait when items only trickle: from one process to another, beside
// a plain socket with one item a write. Batches that form by themselves must not make it wait for
// others.
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include <vector>

#include "base/text.h"
#include "bench/common/arguments.h"
#include "bench/common/latencies.h"
#include "bench/common/program.h"
#include "bench/common/report.h"
#include "bench/common/sockets.h"

using namespace piracema;
using namespace piracema::bench;

namespace {

using Clock = std::chrono::steady_clock;

/// Microseconds that so many of the items do not exceed.
struct Waits {
  double p50 = 0, p99 = 0, p999 = 0, max = 0;
};

struct Item {
  std::int64_t made = 0;
  std::array<char, 56> rest{};
};

void send_when_due(int socket, std::int64_t items, std::int64_t period_ns) {
  const Clock::time_point begin = Clock::now();
  for (std::int64_t i = 1; i <= items; ++i) {
    std::this_thread::sleep_until(begin + std::chrono::nanoseconds(period_ns * i));
    const Item item{.made = Clock::now().time_since_epoch().count()};
    send_all(socket, reinterpret_cast<const char*>(&item), sizeof item);
  }
}

Result<Waits> plain_socket(std::int64_t items, std::int64_t period_ns) {
  const auto [near, far] = tcp_pair();
  Latencies latencies;
  const auto sample = two_processes(
      [&near = near, items, period_ns] { send_when_due(near.get(), items, period_ns); },
      [&far = far, &latencies, items] {
        for (std::int64_t i = 0; i < items; ++i) {
          Item item;
          if (::recv(far.get(), &item, sizeof item, MSG_WAITALL) != sizeof item) return false;
          latencies.add(Clock::now().time_since_epoch().count() - item.made);
        }
        return true;
      });
  if (!sample) return sample.error();
  return Waits{latencies.at(0.5), latencies.at(0.99), latencies.at(0.999), latencies.at(1)};
}

Result<Waits> ours(const char* transport, std::int64_t items, std::int64_t rate) {
  std::string output, last_words;
  const auto sample = run_command(
      under_piracema({"-n", "2", "--transport", transport},
                     {built("bench/latency_app"), std::to_string(items), std::to_string(rate)}),
      {.output = &output, .last_words = &last_words});
  if (!sample) return sample.error();
  Waits waits;
  std::istringstream words(output);
  if (sample->exit_code != 0 || !(words >> waits.p50 >> waits.p99 >> waits.p999 >> waits.max)) {
    return Error{Errc::failed, last_words};
  }
  return waits;
}

nlohmann::json to_json(const std::vector<Waits>& runs) {
  nlohmann::json all = nlohmann::json::array();
  for (const Waits& w : runs) {
    all.push_back({{"p50_us", w.p50}, {"p99_us", w.p99}, {"p99.9_us", w.p999}, {"max_us", w.max}});
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t items = 50'000, rate = 10'000;
  int runs = 5;
  bool json = false;
  Arguments arguments("Measures what items wait that come one by one, beside a plain socket.");
  arguments.number("--items", items, "Items a run", {100, 10'000'000});
  arguments.number("--rate", rate, "Items a second", {1, 1'000'000});
  arguments.number("--runs", runs, "Runs of each side", {1, 1'000});
  arguments.flag("--json", json, "Print one JSON object");
  if (const auto code = arguments.parse(argc, argv)) return *code;

  struct Way {
    const char* name;
    std::function<Result<Waits>()> run;
    std::vector<Waits> runs;
  };
  std::vector<Way> ways{
      {"plain socket", [&] { return plain_socket(items, 1'000'000'000 / rate); }, {}},
      {"piracema, TCP", [&] { return ours("tcp", items, rate); }, {}},
      {"piracema, shared memory", [&] { return ours("shm", items, rate); }, {}}};
  for (int i = 0; i < runs; ++i) {
    for (Way& way : ways) {
      auto waits = way.run();
      if (!waits) {
        std::fprintf(stderr, "bench_latency: %s: %s\n", way.name, waits.error().message.c_str());
        return 1;
      }
      way.runs.push_back(*waits);
    }
  }
  if (json) {
    nlohmann::json all = {{"machine", bench::to_text(this_machine())}, {"rate", rate}};
    for (const Way& way : ways)
      all["ways"].push_back({{"name", way.name}, {"runs", to_json(way.runs)}});
    std::puts(all.dump(2).c_str());
    return 0;
  }
  std::printf("%lld items of 64 bytes, %lld a second; %d runs each, microseconds\n",
              static_cast<long long>(items), static_cast<long long>(rate), runs);
  std::printf("  %-26s %9s %9s %9s %9s %9s\n", "", "p50", "p99", "min p99", "max p99", "p99.9");
  for (const Way& way : ways) {
    std::vector<double> p50, p99, p999;
    for (const Waits& waits : way.runs) {
      p50.push_back(waits.p50);
      p99.push_back(waits.p99);
      p999.push_back(waits.p999);
    }
    const Summary middle = summarize(p99);
    std::printf("  %-26s %9.1f %9.1f %9.1f %9.1f %9.1f\n", way.name, summarize(p50).median,
                middle.median, middle.min, middle.max, summarize(p999).median);
  }
}
