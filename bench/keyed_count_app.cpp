// Keyed count (K): a source makes records of 72 bytes, a map writes into each, a counter counts by
// key and emits each count, a sink drops them. Prints records a second, from the first record made
// to the last one counted.
//
//     keyed_count_app plain|fused|threads|keyed RECORDS
//
// `plain` is the same work in one loop without the library: what memory and arithmetic allow.
// `fused` is one thread, `threads` two: source and map, counter and sink. `keyed` has two of each
// of these, which share the records by key.
#include <piracema/piracema.h>

#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "bench/marks.h"

using namespace piracema;

namespace {

constexpr std::uint64_t keys = 1'000;

std::uint64_t splitmix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

using Payload = std::array<std::uint64_t, 8>;

struct Record {
  std::uint64_t id;
  Payload payload;
};

struct Count {
  std::uint64_t key, count;
};

const std::vector<Payload>& pool() {
  static const std::vector<Payload> blocks = [] {
    std::vector<Payload> all(1024);
    for (std::uint64_t w = 0; w < 8 * all.size(); ++w) {
      all[w / 8][w % 8] = splitmix(1'000'000'007 + w);
    }
    return all;
  }();
  return blocks;
}

Record record(std::uint64_t i) { return {splitmix(i), pool()[i % 1024]}; }

Record map(const Record& in) {
  Record out = in;
  std::uint64_t all = in.id;
  for (const std::uint64_t word : in.payload) all ^= word;
  out.payload[0] = all;
  return out;
}

struct Make {
  std::uint64_t records = 0, next = 0, step = 1;

  void start(const Context& context) {
    step = context.replicas;
    if (next == 0) next = context.replica;
    if (context.replica == 0) bench::mark_start();
  }
  std::optional<Record> operator()() {
    if (next >= records) return std::nullopt;
    const std::uint64_t i = next;
    next += step;
    return record(i);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(next);
  }
};

struct Counter {
  std::vector<std::uint64_t> counts = std::vector<std::uint64_t>(keys);

  Count operator()(const Record& record) {
    const std::uint64_t key = record.id % keys;
    return {key, ++counts[key]};
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(counts);
  }
};

struct Drop {
  std::uint64_t items = 0;

  void operator()(const Count&) { items += 1; }
  void finish() const { bench::mark_end(items); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(items);
  }
};

/// Has a record written to memory although nobody reads all of it: another thread might.
void keep(const Record& record) { asm volatile("" : : "r"(&record) : "memory"); }

int plain(std::uint64_t records) {
  Make make{records};
  make.start({.replicas = 1});
  Counter counter;
  Drop drop;
  while (const auto made = make()) {
    keep(*made);
    const Record mapped = map(*made);
    keep(mapped);
    drop(counter(mapped));
  }
  drop.finish();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string_view mode = argv[1];
  const auto records = static_cast<std::uint64_t>(std::atoll(argv[2]));
  pool();
  const auto key = [](const Record& record) { return record.id % keys; };
  if (mode == "plain") return plain(records);
  if (mode == "fused") {
    return run(combine(source("make", Make{records}), node("map", map), node("count", Counter{}),
                       sink("drop", Drop{})));
  }
  if (mode == "threads") {
    return run(pipeline(combine(source("make", Make{records}), node("map", map)),
                        combine(node("count", Counter{}), sink("drop", Drop{}))));
  }
  if (mode == "keyed") {
    return run(pipeline(
        combine(source("make", Make{records}).replicas(2), farm("map", 2, map)),
        combine(farm("count", 2, Counter{}).by_key(key), sink("drop", Drop{}).replicas(2))));
  }
  return 2;
}
