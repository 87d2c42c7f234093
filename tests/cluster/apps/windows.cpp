// windows_app OUT [replicas=N] [pause_us=N] [items=N] [every_ms=N] [ttl_ms=N] [gap_ms=N]: numbers
// from two sources, which happened at about as many milliseconds. For each key and each second,
// four times in a second or each N ms, how many there were and their sum; with a time to live, for
// each key and each run of numbers that are nearer to each other, as they come; with a gap the same
// of numbers in the order of their times. And those that came too late.
#include <piracema/piracema.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "numbers.h"
#include "options.h"

using namespace piracema;
using std::chrono::milliseconds;

namespace {

/// Every other number: the sources have all of them together.
struct Share {
  Numbers numbers;
  std::int64_t replica = 0;

  void start(const Context& context) { replica = context.replica; }
  std::optional<std::int64_t> operator()() {
    const auto number = numbers();
    return number ? std::optional(2 * *number + replica) : std::nullopt;
  }
  std::int64_t position() const { return numbers.position(); }
  void seek(std::int64_t position) { numbers.seek(position); }
};

// Up to 40 ms out of order; one in 97 comes a second late.
EventTime time_of(const std::int64_t& item) {
  return EventTime(milliseconds(item - item * 7'919 % 41 - (item % 97 == 13 ? 1'000 : 0)));
}
std::int64_t key_of(const std::int64_t& item) { return item * 31 % 500; }
std::int64_t key_of_both(const std::int64_t& item) { return item / 2 * 31 % 250; }

struct Sums {
  std::int64_t count = 0, sum = 0;
};
struct Add {
  void operator()(const std::int64_t& item, Sums& sums) const {
    sums.count += 1;
    sums.sum += item;
  }
  void combine(const Sums& more, Sums& into) const {
    into.count += more.count;
    into.sum += more.sum;
  }
};

std::string text_of(const WindowResult<std::int64_t, Sums>& window) {
  return "key " + std::to_string(window.key) + " to " +
         std::to_string(window.to.time_since_epoch() / milliseconds(1)) + ": " +
         std::to_string(window.value.count) + " " + std::to_string(window.value.sum);
}
/// No key is of both sources.
struct Runs {
  milliseconds ttl;
  milliseconds state_ttl() const { return ttl; }
  EventTime event_time_of(const std::int64_t& item) const { return time_of(item); }

  void operator()(const std::int64_t& item, Sums& sums, Emit<std::string>&) const {
    Add{}(item, sums);
  }
  void finish(const std::int64_t& key, const Sums& sums, Emit<std::string>& emit) const {
    emit("key " + std::to_string(key) + ": " + std::to_string(sums.count) + " " +
         std::to_string(sums.sum));
  }
};

std::string late_text(const std::int64_t& item) { return "late " + std::to_string(item); }

}  // namespace

int main(int argc, char** argv) {
  const Options options(argc, argv);
  const auto replicas = static_cast<std::uint32_t>(options.number("replicas", 2));
  const milliseconds every(options.number("every_ms", 250));
  const Numbers numbers{.end = options.number("items", 40'000) / 2,
                        .pause_us = options.number("pause_us", 0)};
  const milliseconds ttl(options.number("ttl_ms", 0));
  const auto begin = combine(source("numbers", Share{.numbers = numbers}).replicas(2),
                             event_time("times", time_of, milliseconds(50)).replicas(2));
  const auto late = node("late", late_text);
  const auto write = sink("write", LineSink{options.out()});
  if (ttl.count() > 0) {
    const auto runs = farm("runs", replicas, Runs{ttl}).by_key(key_of);
    return run(pipeline(begin, branches(runs, late), write));
  }
  const milliseconds gap(options.number("gap_ms", 0));
  if (gap.count() > 0) {
    const auto runs = window("windows", replicas, key_of_both, time_of, sessions(gap), Add{});
    return run(pipeline(begin, branches(pipeline(runs, node("text", text_of)), late), write));
  }
  const auto windows =
      window("windows", replicas, key_of, time_of, sliding(milliseconds(1'000), every), Add{});
  return run(pipeline(begin, branches(pipeline(windows, node("text", text_of)), late), write));
}
