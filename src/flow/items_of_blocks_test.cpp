#include <doctest/doctest.h>
#include <piracema/detail/items_of_blocks.h>

#include <cstdint>
#include <string>

#include "base/engine.h"

using namespace piracema;

namespace {

/// What a batch has of this item alone.
template <class T>
Batch batch_of(const T& item) {
  Batch batch;
  batch.count = 1;
  Codec<T>::encode(item, batch.data);
  return batch;
}

}  // namespace

TEST_CASE("equal keys go the same way, and a route is what it says") {
  const Router by_length =
      detail::key_router<std::string>([](const std::string& item) { return item.size(); });
  const std::string one = "one", two = "two", three = "three";
  CHECK(by_length(&one) == by_length(&two));
  CHECK(by_length(&one) != by_length(&three));
  const Router to =
      detail::number_router<std::string>([](const std::string& item) { return item.size(); });
  CHECK(to(&three) == 5);
}

TEST_CASE("an item that is a batch by itself gets its memory, another one is copied") {
  const std::string text(handed_over_bytes_min, 'x');
  Batch batch;
  batch.data.append(text.data(), text.size());
  const void* const memory = batch.data.data();
  const Buffer alone = detail::item_of<Buffer>(batch, Bytes(batch.data));
  CHECK(alone.data() == memory);
  CHECK(as_text(alone) == text);

  Batch shared;
  shared.data.append(text.data(), text.size());
  shared.data.append("more", 4);
  const Buffer copy = detail::item_of<Buffer>(shared, Bytes(shared.data).first(text.size()));
  CHECK(as_text(copy) == text);
  CHECK(shared.data.size() == text.size() + 4);
}

TEST_CASE("an item that lies in its batch as in memory is used there, if it lies well") {
  Batch batch = batch_of(std::int64_t{7});
  const void* used = nullptr;
  detail::with_item<std::int64_t>(batch, Bytes(batch.data), [&](const std::int64_t& item) {
    CHECK(item == 7);
    used = &item;
  });
  CHECK(used == batch.data.data());

  Batch beside;
  beside.data.append("x", 1);
  Codec<std::int64_t>::encode(7, beside.data);
  const Bytes askew = Bytes(beside.data).subspan(1);
  detail::with_item<std::int64_t>(beside, askew, [&](const std::int64_t& item) {
    CHECK(item == 7);
    used = &item;
  });
  CHECK(used != askew.data());
  CHECK_THROWS_AS(detail::with_item<std::int64_t>(batch, Bytes(batch.data).first(7),
                                                  [](const std::int64_t&) {}),
                  DecodeError);
}
