// Items whose memory goes from who emits them to who takes them.
#include <doctest/doctest.h>
#include <piracema/blocks.h>

#include <string>
#include <utility>
#include <vector>

#include "base/engine.h"

using namespace piracema;

namespace {
/// A user's type, which gives its bytes away.
struct Picture {
  Buffer pixels;
};
}  // namespace

template <>
struct piracema::Codec<Picture> {
  static constexpr std::size_t fixed_bytes = 0;
  static void encode(const Picture& picture, Buffer& out) {
    out.append(picture.pixels.data(), picture.pixels.size());
  }
  static Picture decode(Bytes in) { return {Buffer(in)}; }
  static Buffer hand_over(Picture picture) { return std::move(picture.pixels); }
  static Picture take_over(Buffer bytes) { return {std::move(bytes)}; }
};

namespace {

constexpr std::size_t large = 2 * handed_over_bytes_min;

std::string text_of(std::size_t size, char letter) { return std::string(size, letter); }
Buffer bytes_of(const std::string& text) { return Buffer(as_bytes(text)); }

/// Keeps the batches that leave.
class KeptBatches final : public Output {
 public:
  explicit KeptBatches(bool may_close = true) {
    ways_.resize(1);
    lanes_.resize(2);
    ways_[0].receivers = 1;
    ways_[0].items_limit = 1'000'000;
    if (!may_close) ways_[0].bytes_limit = Way::no_limit;
  }
  Batch& open() { return lanes_[1]; }

  std::vector<Batch> left;

 private:
  void lane_full(std::size_t lane) override { left.push_back(std::exchange(lanes_[lane], {})); }
  bool skip(Bytes) override { return false; }
};

std::vector<std::string> items_of(const Batch& batch) {
  std::vector<std::string> items;
  BatchReader reader(batch);
  for (std::uint32_t i = 0; i < batch.count; ++i) items.emplace_back(as_text(reader.next()));
  return items;
}

/// Remembers where the last one lies.
struct Look {
  const std::byte** place;
  std::string* text;
  void operator()(Picture picture) const {
    *place = picture.pixels.data();
    *text = as_text(picture.pixels);
  }
};

Picture through(Picture picture) {
  picture.pixels.data()[0] = std::byte{'!'};
  return picture;
}
std::optional<Picture> no_picture() { return std::nullopt; }

}  // namespace

static_assert(HandedOver<Picture> && HandedOver<Buffer>);
static_assert(!HandedOver<std::string> && !HandedOver<int> && !HandedOver<std::vector<int>>);

TEST_CASE("a large item that is given away is a batch of its own, and its memory is the batch's") {
  KeptBatches output;
  Picture picture{bytes_of(text_of(large, 'a'))};
  const std::byte* const place = picture.pixels.data();
  output.begin_item(7);
  output.emit(Picture{bytes_of("small")});
  output.begin_item(8);
  output.emit(std::move(picture));
  REQUIRE(output.left.size() == 2);
  CHECK(items_of(output.left[0]) == std::vector<std::string>{"small"});
  CHECK(output.left[1].count == 1);
  CHECK(output.left[1].id(0) == 8);
  CHECK(output.left[1].data.data() == place);
  CHECK(output.open().count == 0);
}

TEST_CASE("an item that its sender keeps is copied") {
  KeptBatches output;
  const Picture picture{bytes_of(text_of(large, 'a'))};
  output.emit(picture);
  CHECK(output.open().count == 1);
  CHECK(items_of(output.open()) == std::vector<std::string>{text_of(large, 'a')});
  CHECK(picture.pixels.size() == large);
}

TEST_CASE("small items that are given away share a batch") {
  KeptBatches output;
  for (const char* text : {"one", "", "three"}) output.emit(bytes_of(text));
  CHECK(output.left.empty());
  CHECK(items_of(output.open()) == std::vector<std::string>{"one", "", "three"});
}

TEST_CASE("where a batch has to stay whole, what is handed over shares it with the others") {
  const std::string a = text_of(large, 'a'), b = text_of(large + 1, 'b');
  for (const bool given_away : {false, true}) {
    KeptBatches output(false);
    output.emit(bytes_of(a));
    if (given_away) {
      output.emit(bytes_of(b));
    } else {
      const Buffer kept = bytes_of(b);
      output.emit(kept);
    }
    output.emit(bytes_of("c"));
    CHECK(output.left.empty());
    CHECK(items_of(output.open()) == std::vector<std::string>{a, b, "c"});
  }
}

TEST_CASE("an item goes through a node to a sink in the memory that its source gave it") {
  const std::byte* place = nullptr;
  std::string text;
  const Graph graph = pipeline(source("no_picture", no_picture), node("through", through),
                               sink("look", Look{&place, &text}));
  KeptBatches output, nowhere;
  output.emit(Picture{bytes_of(text_of(large, 'a'))});
  Batch batch = std::move(output.left.at(0));
  const std::byte* const given = batch.data.data();
  graph.code[1]()->process(batch, output);
  graph.code[2]()->process(output.left.at(1), nowhere);
  CHECK(place == given);
  CHECK(text == "!" + text_of(large - 1, 'a'));
}

TEST_CASE("between fused nodes an item goes in its own memory, be it large or small") {
  const std::byte* place = nullptr;
  std::string text;
  const Graph graph = pipeline(
      source("no_picture", no_picture),
      combine(node("through", through), node("again", through), sink("look", Look{&place, &text})));
  const Graph fused = *fuse(graph, false);
  KeptBatches output;
  Batch batch;
  batch.add_handed(0, bytes_of(text_of(large, 'a')));
  const std::byte* const given = batch.data.data();
  fused.code[1]()->process(batch, output);
  CHECK(place == given);
  CHECK(text.size() == large);
}

TEST_CASE("a batch of several items that claims to be one does no harm") {
  KeptBatches output;
  Batch batch;
  batch.add_handed(0, bytes_of(text_of(large, 'a')));
  batch.count = 2;
  const Graph graph = pipeline(source("no_picture", no_picture), node("through", through),
                               sink("end", [](const Picture&) {}));
  CHECK_THROWS_AS(graph.code[1]()->process(batch, output), DecodeError);
}
