// Keyed count (K): a source makes records of 72 bytes, a map writes into each, a counter counts by
// key and emits each count, a sink drops them. Prints records a second, from the first record made
// to the last one counted.
//
//     keyed_count_app plain|plain_threads|fused|threads|keyed RECORDS
//
// `plain` is the same work in one loop without the library: what memory and arithmetic allow;
// `plain_threads` in two, with blocks of records that go round between them and nothing else.
// `fused` is one thread, `threads` two: source and map, counter and sink. `keyed` has two of each
// of these, which share the records by key.
#include <piracema/piracema.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <new>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/common/marks.h"

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

/// Blocks of memory that one thread fills and another one empties, in turns. No thread sleeps.
struct Blocks {
  static constexpr std::size_t records = 3'600, count = 4;

  static void wait_until(const std::atomic<std::uint64_t>& turn, std::uint64_t least) {
    while (turn.load(std::memory_order_acquire) < least) std::this_thread::yield();
  }
  Record* block(std::uint64_t turn) { return room.data() + turn % count * records; }

  std::vector<Record> room = std::vector<Record>(count * records);
  alignas(64) std::atomic<std::uint64_t> filled = 0;
  alignas(64) std::atomic<std::uint64_t> emptied = count;
};

// Each record is made where it is to lie, which is the fastest way that was found.
void fill(Blocks& blocks, std::uint64_t records) {
  Make make{records};
  make.start({.replicas = 1});
  for (std::uint64_t turn = 0; make.next < records; ++turn) {
    Blocks::wait_until(blocks.emptied, turn + 1);
    Record* to = blocks.block(turn);
    for (std::size_t i = 0; i < Blocks::records && make.next < records; ++i) {
      const auto made = make();
      keep(*made);
      new (to + i) Record(map(*made));
    }
    blocks.filled.store(turn + 1, std::memory_order_release);
  }
}

int plain_threads(std::uint64_t records) {
  Blocks blocks;
  std::thread filler([&] { fill(blocks, records); });
  Counter counter;
  Drop drop;
  for (std::uint64_t turn = 0; drop.items < records; ++turn) {
    Blocks::wait_until(blocks.filled, turn + 1);
    const Record* from = blocks.block(turn);
    const std::uint64_t there = std::min<std::uint64_t>(Blocks::records, records - drop.items);
    for (std::uint64_t i = 0; i < there; ++i) drop(counter(from[i]));
    blocks.emptied.store(turn + 1 + Blocks::count, std::memory_order_release);
  }
  filler.join();
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
  if (mode == "plain_threads") return plain_threads(records);
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
