// How a .bz2 file falls into blocks (apps/bzip2/bunzip2.h), for files of every kind and damaged
// ones.
#include <doctest/doctest.h>

#include <fstream>
#include <memory>
#include <string>

#include "apps/bzip2/bunzip2.h"
#include "base/random.h"
#include "base/testing.h"

using namespace piracema;
using namespace piracema::testing;

namespace {

/// As bzip2 compresses it, in blocks of `level` times 100 kB.
std::string packed(const std::string& content, int level) {
  std::string stream(content.size() + content.size() / 50 + 700, '\0');
  auto bytes = static_cast<unsigned>(stream.size());
  std::string from = content.empty() ? std::string(1, '\0') : content;
  REQUIRE(BZ2_bzBuffToBuffCompress(stream.data(), &bytes, from.data(),
                                   static_cast<unsigned>(content.size()), level, 0, 0) == BZ_OK);
  stream.resize(bytes);
  return stream;
}

/// Runs of one letter, any bytes, or words.
std::string content_of(Random& random) {
  const std::size_t bytes = random.below(4) == 0 ? 0 : random.below(300'000);
  const auto kind = random.below(3);
  std::string content;
  while (content.size() < bytes) {
    if (kind == 0)
      content += std::string(random.below(3'000), static_cast<char>('a' + random.below(3)));
    if (kind == 1) content += static_cast<char>(random.below(256));
    if (kind == 2) content += "word " + std::to_string(random.below(1'000));
  }
  return content;
}

class Archive {
 public:
  void write(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }

  /// What all blocks hold. With `stops` each is read by somebody who goes on at the place of the
  /// last.
  std::string unpacked(bool stops = false) {
    std::string content;
    auto blocks = std::make_unique<apps::PackedBlocks>(path_);
    for (std::string block; blocks->next(block); block.clear()) {
      CHECK(block.size() <= apps::PackedBlocks::block_bytes_max);
      apps::decompress(block, content);
      if (stops) blocks = std::make_unique<apps::PackedBlocks>(path_, blocks->place());
    }
    return content;
  }

 private:
  ScratchDirectory scratch_;
  std::string path_ = scratch_.path() + "/file.bz2";
};

std::string damaged(std::string bytes, Random& random) {
  const std::size_t place = random.below(bytes.size());
  const auto how = random.below(3);
  if (how == 0) bytes[place] = static_cast<char>(bytes[place] ^ (1 << random.below(8)));
  if (how == 1) bytes.resize(place);
  if (how == 2) bytes.insert(place, 1, static_cast<char>(random.below(256)));
  return bytes;
}

}  // namespace

TEST_CASE("files of any streams give what they hold, whoever reads on at any block") {
  Random random(1);
  Archive archive;
  for (int file = 0; file < 40; ++file) {
    CAPTURE(file);
    std::string bytes, content;
    for (std::uint64_t streams = 1 + random.below(3); streams > 0; --streams) {
      const std::string part = content_of(random);
      bytes += packed(part, static_cast<int>(1 + random.below(3)));
      content += part;
    }
    archive.write(bytes);
    CHECK((archive.unpacked() == content));
    CHECK((archive.unpacked(true) == content));
  }
}

TEST_CASE("a damaged file is refused, and never gives other bytes than its own") {
  Random random(2);
  Archive archive;
  int refused = 0;
  for (int file = 0; file < 40; ++file) {
    CAPTURE(file);
    const std::string content = content_of(random);
    const std::string bytes = packed(content, 1);
    for (int time = 0; time < 5; ++time) {
      archive.write(damaged(bytes, random));
      try {
        const std::string found = archive.unpacked();
        // The size of blocks that a stream names may change and do no harm.
        CHECK((found == content));
      } catch (const std::runtime_error& error) {
        refused += 1;
        CHECK(std::string(error.what()).size() > 10);
      }
    }
  }
  CHECK(refused > 150);
}

TEST_CASE("a block that does not end is refused before it fills the memory") {
  Archive archive;
  std::string bytes = packed("a", 9).substr(0, 14);
  bytes.resize(40'000'000, 'x');
  archive.write(bytes);
  CHECK_THROWS_WITH_AS(archive.unpacked(), doctest::Contains("has a block that does not end"),
                       std::runtime_error);
}
