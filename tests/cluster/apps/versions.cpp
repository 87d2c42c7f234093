// versions_app OUT version=1|2|3|4|5|6 [pause_us=N] [hurry=FILE] [items=N]: a program in versions.
// The first counts items by key and writes a line for each. The second has an operator before that,
// and two behind it that number what they get: one by key, the other all. The third has none of
// these, and another one before the count. The fourth is the first, but that its counts are of
// another type. The fifth counts in windows of event time, and until no item of a key has come for
// a while of event time; the sixth does so with counts of that other type.
#include <piracema/piracema.h>

#include <string>

#include "numbers.h"
#include "options.h"

using namespace piracema;

namespace {

std::string key_of(const std::int64_t& item) { return "key " + std::to_string(item * 31 % 20); }

std::string count(const std::int64_t& item, std::int64_t& seen) {
  seen += 1;
  return key_of(item) + ": " + std::to_string(seen);
}

/// Of a key: how often it was seen, and by this version.
struct Seen {
  using Before = std::int64_t;
  std::int64_t all = 0, here = 0;

  Seen() = default;
  explicit Seen(std::int64_t before) : all(before) {}
};

std::string count_here(const std::int64_t& item, Seen& seen) {
  seen.all += 1;
  seen.here += 1;
  return key_of(item) + ": " + std::to_string(seen.all) + " @" + std::to_string(seen.here);
}

EventTime time_of(const std::int64_t& item) { return EventTime(std::chrono::milliseconds(item)); }
std::int64_t all_of(const std::int64_t& seen) { return seen; }
std::int64_t all_of(const Seen& seen) { return seen.all; }
void see(std::int64_t& seen) { seen += 1; }
void see(Seen& seen) { seen.all += 1; }

/// In 700 ms of event time: how many items of a key.
template <class Count>
struct InWindow {
  void operator()(const std::int64_t&, Count& seen) const { see(seen); }
  std::int64_t result(const Count& seen) const { return all_of(seen); }
};

/// How many windows of a key there were until five seconds of event time passed without one.
template <class Count>
struct InARow {
  using Windowed = WindowResult<std::string, std::int64_t>;

  std::chrono::seconds state_ttl() const { return std::chrono::seconds(5); }
  EventTime event_time_of(const Windowed& one) const { return one.time(); }
  void operator()(const Windowed& one, Count& seen, Emit<std::string>& emit) const {
    see(seen);
    emit(one.key + ": " + std::to_string(one.value) + ", " + std::to_string(all_of(seen)));
  }
};

template <class Count, class Source, class Sink>
int run_by_event_time(Source numbers, Sink write) {
  using Windowed = typename InARow<Count>::Windowed;
  using std::chrono::milliseconds;
  return run(
      pipeline(std::move(numbers), event_time("times", time_of, milliseconds(0), drop_late),
               window("count", 2, key_of, time_of, tumbling(milliseconds(700)), InWindow<Count>{}),
               farm("row", 2, InARow<Count>{}).by_key([](const Windowed& one) { return one.key; }),
               std::move(write)));
}

std::string key_in(const std::string& line) { return line.substr(0, line.find(':')); }

/// Behind each line: how many its key has had.
std::string nth(const std::string& line, std::int64_t& lines) {
  lines += 1;
  return line + " @" + std::to_string(lines);
}

/// Behind each line: how many it has had.
struct Mark {
  std::int64_t lines = 0;

  std::string operator()(const std::string& line) {
    lines += 1;
    return line + " #" + std::to_string(lines);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(lines);
  }
};

}  // namespace

int main(int argc, char** argv) {
  const Options options(argc, argv);
  auto numbers = source("numbers", Numbers{.end = options.number("items", 40'000),
                                           .pause_us = options.number("pause_us", 0),
                                           .hurry = options.text("hurry")});
  auto counts = farm("count", 2, count).by_key(key_of);
  auto write = sink("write", LineSink{options.out()}).ordered();
  const auto pass = [](const std::int64_t& item) { return item; };
  switch (options.number("version", 1)) {
    case 1:
      return run(pipeline(std::move(numbers), std::move(counts), std::move(write)));
    case 2:
      return run(pipeline(std::move(numbers), node("pass", pass), std::move(counts),
                          farm("nth", 2, nth).by_key(key_in), node("mark", Mark{}).ordered(),
                          std::move(write)));
    case 4:
      return run(pipeline(std::move(numbers), farm("count", 2, count_here).by_key(key_of),
                          std::move(write)));
    case 5:
      return run_by_event_time<std::int64_t>(std::move(numbers), std::move(write));
    case 6:
      return run_by_event_time<Seen>(std::move(numbers), std::move(write));
    default:
      return run(
          pipeline(std::move(numbers), node("again", pass), std::move(counts), std::move(write)));
  }
}
