#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "sim/seeds.h"
#include "sim/stream_parts.h"

namespace piracema::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// Bytes that tell their number; some are handed over and some are copied.
Buffer picture_of(std::uint64_t number) {
  Buffer picture;
  picture.resize(sizeof number + number % 5 * handed_over_bytes_min / 2);
  std::memset(picture.data(), static_cast<int>(number % 251), picture.size());
  std::memcpy(picture.data(), &number, sizeof number);
  return picture;
}

std::uint64_t number_of(const Buffer& picture) {
  std::uint64_t number = 0;
  REQUIRE(picture.size() >= sizeof number);
  std::memcpy(&number, picture.data(), sizeof number);
  return number;
}

struct Draw : Count {
  std::optional<Buffer> operator()() {
    const auto number = Count::operator()();
    return number ? std::optional(picture_of(*number)) : std::nullopt;
  }
};

/// Drops a picture, gives it away, or keeps it first and then gives it away.
struct PassOn {
  Outside* outside = nullptr;

  void operator()(Buffer picture, Emit<Buffer>& emit) const {
    if (outside->throwing > 0) {
      outside->throwing -= 1;
      throw std::runtime_error("bad luck");
    }
    const std::uint64_t times = number_of(picture) % 3;
    if (times == 2) emit(picture);
    if (times != 0) emit(std::move(picture));
  }
};

struct Hang : Write {
  void operator()(Buffer picture) {
    const std::uint64_t number = number_of(picture);
    const Buffer wanted = picture_of(number);
    CHECK(picture.size() == wanted.size());
    CHECK(std::equal(picture.data(), picture.data() + picture.size(), wanted.data()));
    Write::operator()(number);
  }
};

/// The seed chooses how the pictures travel, and whether in order.
struct Gallery {
  explicit Gallery(std::uint64_t seed) {
    Random random(seed);
    ordered = random.chance(0.5);
    const auto farms = [&] { return 1 + static_cast<std::uint32_t>(random.below(3)); };
    auto pass = farm("pass", farms(), [](Buffer picture) { return picture; });
    if (random.chance(0.5)) pass = std::move(pass).by_key(number_of);
    auto hang = sink("hang", Hang{{&outside}});
    if (ordered) hang = std::move(hang).ordered();
    graph = pipeline(source("draw", Draw{{items}}), farm("sort", farms(), PassOn{&outside}),
                     std::move(pass), std::move(hang));
  }

  void check_output() {
    std::vector<std::uint64_t> wanted;
    for (std::uint64_t item = 0; item < items; ++item) wanted.insert(wanted.end(), item % 3, item);
    if (!ordered) std::sort(outside.output.begin(), outside.output.end());
    CHECK((outside.output == wanted));
  }

  const std::uint64_t items = 200;
  bool ordered = false;
  Outside outside;
  Graph graph;
};

}  // namespace

TEST_CASE("what is handed over arrives once and whole, whatever goes wrong on the way") {
  for (const auto seed : seeds(100)) {
    Gallery gallery(seed);
    Cluster::Settings with = settings_of(seed, gallery.graph);
    if (seed % 4 != 0) with.chaos = everything(Random(seed));
    Cluster cluster(with, [&](Slot slot, ProcessHost& host) {
      return make_stream_worker(gallery.graph, slot, host, seed % 3);
    });
    if (seed % 4 != 0) {
      cluster.scheduler().at(milliseconds(500), [&] { gallery.outside.throwing = 1; });
    }
    REQUIRE(cluster.run(seconds(200)));
    CHECK(cluster.finish()->code == 0);
    gallery.check_output();
  }
}

}  // namespace piracema::sim
