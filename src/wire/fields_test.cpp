#include "wire/fields.h"

#include <doctest/doctest.h>

#include "base/random.h"
#include "wire/frame.h"

using namespace piracema;

namespace {

struct Inner {
  std::uint16_t number = 0;
  auto fields() { return std::tie(number); }
};

struct Message {
  std::uint64_t count = 0;
  bool flag = false;
  double rate = 0;
  std::string text;
  std::optional<std::uint32_t> maybe;
  std::vector<Inner> list;
  std::array<std::byte, 3> mark{};
  Buffer bytes;
  std::chrono::milliseconds time{};
  std::map<std::string, std::uint16_t> names = {};
  auto fields() { return std::tie(count, flag, rate, text, maybe, list, mark, bytes, time, names); }
};

Message example() {
  return {7, true, 0.5, "text", 9u, {{1}, {2}}, {std::byte{3}}, Buffer(as_bytes("bytes")),
          std::chrono::milliseconds(-4), {{"a", 1}, {"b", 2}}};
}

}  // namespace

TEST_CASE("a message comes back with all its fields") {
  const auto back = wire::decode<Message>(wire::encode(example()));
  REQUIRE(back.ok());
  CHECK(back->count == 7);
  CHECK(back->flag);
  CHECK(back->rate == 0.5);
  CHECK(back->text == "text");
  CHECK(back->maybe == 9u);
  CHECK(back->list.size() == 2);
  CHECK(back->list[1].number == 2);
  CHECK(back->mark[0] == std::byte{3});
  CHECK(as_text(back->bytes) == "bytes");
  CHECK(back->time == std::chrono::milliseconds(-4));
  CHECK(back->names == example().names);
}

TEST_CASE("a message that is cut short or too long is refused") {
  const Buffer bytes = wire::encode(example());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CHECK_FALSE(wire::decode<Message>(Bytes(bytes).first(length)).ok());
  }
  Buffer longer = bytes;
  longer.append("x", 1);
  CHECK_FALSE(wire::decode<Message>(longer).ok());
}

TEST_CASE("random bytes never ask for more memory than they are long") {
  Random random(1);
  for (int round = 0; round < 20'000; ++round) {
    Buffer noise;
    noise.resize(random.below(64));
    for (std::size_t i = 0; i < noise.size(); ++i) noise.data()[i] = std::byte(random.next());
    const auto message = wire::decode<Message>(noise);
    if (message) {
      CHECK(message->text.size() <= noise.size());
      CHECK(message->list.size() <= noise.size());
    } else {
      CHECK(message.error().code == Errc::corrupt);
    }
  }
}

TEST_CASE("a frame's header comes back, and any flipped bit of it is noticed") {
  wire::Frame frame{.kind = 3, .epoch = 4, .from = 5, .to = 6};
  frame.head = Buffer(as_bytes("head"));
  std::byte bytes[wire::frame_header_bytes];
  wire::write_header(frame, bytes);
  const auto header = wire::read_header(bytes);
  REQUIRE(header.ok());
  CHECK(header->kind == 3);
  CHECK(header->epoch == 4);
  CHECK(header->from == 5);
  CHECK(header->to == 6);
  CHECK(header->head_bytes == 4);
  CHECK(header->body_bytes == 0);
  for (std::size_t bit = 0; bit < 8 * wire::frame_header_bytes; ++bit) {
    bytes[bit / 8] ^= std::byte(1u << (bit % 8));
    CHECK_FALSE(wire::read_header(bytes).ok());
    bytes[bit / 8] ^= std::byte(1u << (bit % 8));
  }
}
