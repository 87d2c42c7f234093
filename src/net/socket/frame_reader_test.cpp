#include "net/socket/frame_reader.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "loop/test_support.h"
#include "wire/checksum.h"

using namespace piracema;
using namespace piracema::net;

namespace {

// Up to `at_once` of the bytes go to where the reader wants them.
std::size_t put(FrameReader& reader, std::string_view bytes, std::size_t at_once) {
  std::size_t count = 0;
  for (const iovec& place : reader.room()) {
    const std::size_t part = std::min({place.iov_len, bytes.size() - count, at_once - count});
    if (part != 0) std::memcpy(place.iov_base, bytes.data() + count, part);
    count += part;
    if (part < place.iov_len) break;
  }
  reader.filled(count);
  return count;
}

struct Outcome {
  std::vector<wire::Frame> frames;
  std::string error;
};

Outcome read_all(FrameReader& reader, std::string_view stream, Random& random,
                 std::size_t at_once_max) {
  Outcome outcome;
  while (!stream.empty()) {
    stream.remove_prefix(put(reader, stream, 1 + random.below(at_once_max)));
    for (;;) {
      auto frame = reader.next();
      if (!frame) {
        outcome.error = frame.error().message;
        return outcome;
      }
      if (!*frame) break;
      outcome.frames.push_back(std::move(**frame));
    }
  }
  return outcome;
}

wire::Frame random_frame(Random& random, std::size_t size_max) {
  wire::Frame frame;
  frame.kind = static_cast<std::uint8_t>(random.next());
  frame.epoch = static_cast<std::uint32_t>(random.next());
  frame.from = static_cast<std::uint32_t>(random.next());
  frame.to = static_cast<std::uint32_t>(random.next());
  for (Buffer* part : {&frame.head, &frame.body}) {
    if (random.chance(0.3)) continue;
    part->resize(random.below(size_max));
    std::generate_n(part->data(), part->size(), [&] { return std::byte(random.next()); });
  }
  return frame;
}

// A header that claims these lengths, and is right otherwise.
std::string header_claiming(std::uint64_t head_bytes, std::uint64_t body_bytes) {
  std::string header = bytes_of({});
  std::memcpy(header.data() + 16, &head_bytes, sizeof head_bytes);
  std::memcpy(header.data() + 24, &body_bytes, sizeof body_bytes);
  const auto sum = static_cast<std::uint32_t>(wire::checksum(as_bytes(header).first(36)));
  std::memcpy(header.data() + 36, &sum, sizeof sum);
  return header;
}

void mutate(std::string& stream, std::size_t from, Random& random) {
  const std::size_t at = from + random.below(stream.size() - from);
  switch (random.below(4)) {
    case 0:
      stream[at] = static_cast<char>(stream[at] ^ (1 << random.below(8)));
      break;
    case 1:
      stream.erase(at, 1 + random.below(60));
      break;
    case 2:
      stream.insert(at, 1 + random.below(60), static_cast<char>(random.next()));
      break;
    default:
      stream.resize(at);
      break;
  }
}

}  // namespace

TEST_CASE("frames come out as they went in, wherever the stream is cut") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    std::vector<wire::Frame> frames;
    std::string stream;
    for (int i = 0; i < 12; ++i) {
      frames.push_back(random_frame(random, random.chance(0.5) ? 100 : 50'000));
      stream += bytes_of(frames.back());
    }
    FrameReader reader;
    const Outcome outcome = read_all(reader, stream, random, seed % 3 == 0 ? 50 : 40'000);
    CHECK(outcome.error.empty());
    REQUIRE(outcome.frames.size() == frames.size());
    CHECK(std::equal(frames.begin(), frames.end(), outcome.frames.begin(), same));
    CHECK(reader.between_frames());
  }
}

TEST_CASE("once the header is there, the rest of a frame is read into its place") {
  FrameReader reader;
  const std::string stream = bytes_of(frame_of(1, "head", std::string(100'000, 'b')));
  CHECK(put(reader, stream, 50) == 50);
  CHECK_FALSE(reader.next()->has_value());
  CHECK_FALSE(reader.between_frames());

  const auto room = reader.room();
  CHECK(room[0].iov_len == stream.size() - 50);
  CHECK(room[1].iov_len > 0);
}

TEST_CASE("a header that claims gigabytes gets megabytes until they have come") {
  FrameReader reader;
  CHECK(put(reader, header_claiming(0, wire::frame_body_bytes_max), 100) == 40);
  CHECK_FALSE(reader.next()->has_value());
  CHECK(reader.room()[0].iov_len == std::size_t{16} << 20);
}

TEST_CASE("a frame above the limits is refused by its header, with what was wanted and found") {
  FrameReader reader({100, 0});
  const auto read = [&](const std::string& stream) {
    Random random(1);
    return read_all(reader, stream, random, 1'000).error;
  };
  CHECK(read(bytes_of(frame_of(1, std::string(100, 'h')))).empty());
  CHECK(read(bytes_of(frame_of(1, "", "b"))) ==
        "frame: want at most 100 bytes of head and 0 of body here, found 0 and 1");
}

TEST_CASE("whatever a peer sends, frames before the damage are whole and nothing is made up") {
  Random random(2024);
  std::vector<wire::Frame> pool;
  for (int i = 0; i < 64; ++i) pool.push_back(random_frame(random, 120));

  for (int i = 0; i < 100'000; ++i) {
    CAPTURE(i);
    std::string stream;
    std::vector<const wire::Frame*> frames;
    while (frames.size() < 3) {
      frames.push_back(&pool[random.below(pool.size())]);
      stream += bytes_of(*frames.back());
    }
    const std::size_t intact = random.below(frames.size() + 1);
    std::size_t damaged_from = 0;
    for (std::size_t f = 0; f < intact; ++f) damaged_from += bytes_of(*frames[f]).size();
    if (i % 16 == 0) {
      stream.insert(damaged_from, header_claiming(random.next() >> random.below(64),
                                                  random.next() >> random.below(64)));
    } else if (damaged_from < stream.size()) {
      mutate(stream, damaged_from, random);
    } else {
      stream += std::string(1 + random.below(80), static_cast<char>(random.next()));
    }

    FrameReader reader;
    const Outcome outcome = read_all(reader, stream, random, 200);
    REQUIRE(outcome.frames.size() >= intact);
    std::size_t bytes = 0;
    for (std::size_t f = 0; f < outcome.frames.size(); ++f) {
      if (f < intact) REQUIRE(same(outcome.frames[f], *frames[f]));
      bytes += bytes_of(outcome.frames[f]).size();
    }
    REQUIRE(bytes <= stream.size());
  }
}

TEST_CASE("forty bytes that no peer sends are never a header") {
  Random random(7);
  for (int i = 0; i < 100'000; ++i) {
    std::string header = bytes_of({});
    if (i % 2 == 0) {
      std::generate(header.begin(), header.end(), [&] { return static_cast<char>(random.next()); });
    } else {
      header[random.below(header.size())] ^= static_cast<char>(1 << random.below(8));
    }
    CAPTURE(i);
    REQUIRE_FALSE(wire::read_header(as_bytes(header)).ok());
  }
}
