// versions_app OUT version=1|2|3 [pause_us=N] [items=N]: a program in three versions. The first
// counts items by key and writes a line for each. The second has an operator before that, and one
// behind it that numbers what it gets. The third has that one no more, and counts apart how many
// lines there were.
#include <piracema/piracema.h>

#include <chrono>
#include <string>
#include <thread>

#include "options.h"

using namespace piracema;

namespace {

struct Numbers {
  std::int64_t end = 0, pause_us = 0, next = 0;

  std::optional<std::int64_t> operator()() {
    if (next == end) return std::nullopt;
    if (pause_us != 0) std::this_thread::sleep_for(std::chrono::microseconds(pause_us));
    return next++;
  }
  std::int64_t position() const { return next; }
  void seek(std::int64_t position) { next = position; }
};

std::string key_of(const std::int64_t& item) { return "key " + std::to_string(item * 31 % 5'000); }

std::string count(const std::int64_t& item, std::int64_t& seen) {
  seen += 1;
  return key_of(item) + ": " + std::to_string(seen);
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
  auto numbers =
      source("numbers", Numbers{options.number("items", 40'000), options.number("pause_us", 0)});
  auto counts = farm("count", 2, count).by_key(key_of);
  auto write = sink("write", LineSink{options.out()}).ordered();
  const auto pass = [](const std::int64_t& item) { return item; };
  switch (options.number("version", 1)) {
    case 1:
      return run(pipeline(std::move(numbers), std::move(counts), std::move(write)));
    case 2:
      return run(pipeline(std::move(numbers), farm("pass", 2, pass), std::move(counts),
                          node("mark", Mark{}).ordered(), std::move(write)));
    default:
      return run(pipeline(std::move(numbers), farm("again", 3, pass), std::move(counts),
                          std::move(write)));
  }
}
