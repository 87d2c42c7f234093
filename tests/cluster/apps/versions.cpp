// versions_app OUT version=1|2|3|4 [pause_us=N] [hurry=FILE] [items=N]: a program in versions. The
// first counts items by key and writes a line for each. The second has an operator before that, and
// two behind it that number what they get: one by key, the other all. The third has none of these,
// and another one before the count. The fourth is the first, but that its counts are of another
// type.
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
    default:
      return run(
          pipeline(std::move(numbers), node("again", pass), std::move(counts), std::move(write)));
  }
}
