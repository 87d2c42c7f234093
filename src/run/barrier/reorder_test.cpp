#include "run/barrier/reorder.h"

#include <doctest/doctest.h>

#include <string>

using namespace piracema;
using runtime::Reorder;

namespace {

Batch part(std::uint64_t sequence, std::uint64_t share, std::vector<std::string> items,
           std::vector<std::uint32_t> positions = {}, std::uint32_t origin = 0) {
  Batch batch;
  for (const std::string& item : items) batch.add(100 + batch.count, item);
  batch.positions = std::move(positions);
  batch.order = {origin, sequence, share};
  return batch;
}

std::string text(const std::vector<Batch>& batches) {
  std::string all;
  for (const Batch& batch : batches) {
    BatchReader items(batch);
    for (std::uint32_t i = 0; i < batch.count; ++i) all += std::string(as_text(items.next())) + " ";
  }
  return all;
}

}  // namespace

TEST_CASE("a batch that came too early waits for the ones before it") {
  Reorder reorder;
  CHECK(reorder.add(part(1, Order::whole, {"c"})).empty());
  CHECK_FALSE(reorder.empty());
  CHECK(text(reorder.add(part(0, Order::whole, {"a", "b"}))) == "a b c ");
  CHECK(reorder.empty());
}

TEST_CASE("a batch that was cut by key is put together again item by item") {
  Reorder reorder;
  const std::uint64_t half = Order::whole / 2;
  CHECK(reorder.add(part(0, half, {"b", "d"}, {1, 3})).empty());
  CHECK(text(reorder.add(part(0, half, {"a", "c", "e"}, {0, 2, 4}))) == "a b c d e ");
}

TEST_CASE("an empty batch keeps its place and lets the next one pass") {
  Reorder reorder;
  CHECK(reorder.add(part(1, Order::whole, {"x"})).empty());
  CHECK(text(reorder.add(part(0, Order::whole, {}))) == "x ");
}

TEST_CASE("origins are ordered each by itself") {
  Reorder reorder;
  CHECK(text(reorder.add(part(0, Order::whole, {"p"}, {}, 7))) == "p ");
  CHECK(text(reorder.add(part(0, Order::whole, {"q"}, {}, 8))) == "q ");
}

TEST_CASE("a batch of which one part was handed over is put together again") {
  const std::string large(handed_over_bytes_min, 'x');
  for (const std::string& other : {std::string("b"), large, large + "y"}) {
    Reorder reorder;
    Batch handed = part(0, Order::whole / 2, {}, {1});
    handed.add_handed(100, Buffer(as_bytes(large)));
    CHECK(reorder.add(std::move(handed)).empty());
    CHECK(text(reorder.add(part(0, Order::whole / 2, {other}, {0}))) == other + " " + large + " ");
  }
}

TEST_CASE("identifiers survive a merge") {
  Batch a = part(0, Order::whole / 2, {"x"}, {1});
  Batch b = part(0, Order::whole / 2, {"y"}, {0});
  a.first_id = 41;
  b.first_id = 99;
  const Batch merged = runtime::merge({a, b});
  CHECK(merged.id(0) == 99);
  CHECK(merged.id(1) == 41);
}
