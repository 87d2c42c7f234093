// tally_app OUT [replicas=N] [pause_us=N] [hurry=FILE] [items=N] [sinks=N] [groups=N]
// [ballast=BYTES] [tally_us=N] [keys=N] [quick=N] [rows=1]: how often each key has been seen, and
// the sum of its items, a line for each item, in their order if there is no number of sinks. The
// state of a key has so much ballast besides. An item takes the source and whoever tallies it so
// long, but for the first ones that are to be quick, and the source until FILE exists. With rows
// the state of a key has each of its items as an entry, and no ballast.
#include <piracema/piracema.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <thread>

#include "numbers.h"
#include "options.h"

using namespace piracema;

namespace {

struct Total {
  std::int64_t count = 0, sum = 0;
  std::string ballast;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(count, sum, ballast);
  }
};

/// Of each key, the same in all processes.
std::size_t ballast_bytes = 0;
std::chrono::microseconds tally_time{};
std::int64_t keys = 5'000;

std::int64_t number_of(std::int64_t item) { return item * 31 % keys; }

std::string key_of(const std::int64_t& item) { return "key " + std::to_string(number_of(item)); }

char letter_of(std::int64_t item) { return static_cast<char>('a' + number_of(item) % 26); }

std::string tally(const std::int64_t& item, Total& total) {
  if (tally_time.count() != 0) std::this_thread::sleep_for(tally_time);
  // It is of the key, and complete: what is restored is what was saved.
  if (total.count == 0) total.ballast.assign(ballast_bytes, letter_of(item));
  if (total.ballast != std::string(ballast_bytes, letter_of(item))) return "another ballast";
  total.count += 1;
  total.sum += item;
  return key_of(item) + ": " + std::to_string(total.count) + " " + std::to_string(total.sum);
}

struct Items {
  MapState<std::int64_t, std::int64_t> all;
  ListState<std::int64_t> last;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(all, last);
  }
};

std::string tally_in_rows(const std::int64_t& item, Items& items) {
  if (tally_time.count() != 0) std::this_thread::sleep_for(tally_time);
  if (!items.last.empty() && items.last.back() >= item) return "an item that was there before";
  items.all.put(item, item);
  items.last.push_back(item);
  if (items.last.size() > 2) items.last.pop_front();
  std::int64_t sum = 0;
  items.all.for_each([&](std::int64_t, std::int64_t one) { sum += one; });
  return key_of(item) + ": " + std::to_string(items.all.size()) + " " + std::to_string(sum);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options(argc, argv);
  ballast_bytes = static_cast<std::size_t>(options.number("ballast", 0));
  keys = options.number("keys", 5'000);
  tally_time = std::chrono::microseconds(options.number("tally_us", 0));
  const auto count = [&](const char* name, std::int64_t otherwise) {
    return static_cast<std::uint32_t>(options.number(name, otherwise));
  };
  auto write = sink("write", LineSink{options.out()});
  const auto run_with = [&](auto code) {
    return run(
        pipeline(source("numbers", Numbers{.end = options.number("items", 40'000),
                                           .pause_us = options.number("pause_us", 0),
                                           .pause_from = options.number("quick", 0),
                                           .hurry = options.text("hurry")}),
                 farm("tally", count("replicas", 2), code).by_key(key_of, count("groups", 1'024)),
                 options.has("sinks") ? std::move(write).replicas(count("sinks", 1))
                                      : std::move(write).ordered()));
  };
  return options.has("rows") ? run_with(tally_in_rows) : run_with(tally);
}
