#include "ckpt/image/manifest.h"

#include <doctest/doctest.h>

#include <string>

#include "base/random.h"

namespace piracema::ckpt {

namespace {

const Manifest some_manifest{.image = 7,
                             .job = 0xFEDCBA9876543210u,
                             .created = 1'700'000'000,
                             .parts = {{"pages-1.img", 4096, 1}, {"record.json", 0, ~0ull}}};

}  // namespace

TEST_CASE("a manifest comes back as it was") {
  const std::string text = encode_manifest(some_manifest);
  const auto back = decode_manifest("m", as_bytes(text), 7);
  REQUIRE(back.ok());
  CHECK(back->job == some_manifest.job);
  CHECK(back->bytes() == 4096);
  REQUIRE(back->parts.size() == 2);
  CHECK(back->parts[1].checksum == ~0ull);
}

TEST_CASE("a manifest of another image is refused") {
  const std::string text = encode_manifest(some_manifest);
  CHECK(decode_manifest("m", as_bytes(text), 8).error().code == Errc::corrupt);
}

TEST_CASE("a manifest with any byte changed or cut off is refused") {
  const std::string text = encode_manifest(some_manifest);
  Random random(1);
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string other = text;
    other[at] = static_cast<char>(other[at] ^ static_cast<char>(1 + random.below(255)));
    CAPTURE(at);
    const auto read = decode_manifest("m", as_bytes(other), 7);
    // White space may become other white space.
    const bool same = read.ok() && encode_manifest(*read) == text;
    CHECK((same || !read.ok()));
    if (at + 1 < text.size())
      CHECK_FALSE(decode_manifest("m", as_bytes(text.substr(0, at)), 7).ok());
  }
}

TEST_CASE("a name that leads out of the image is refused") {
  for (const char* name : {"../x", "/etc/passwd", ".", "", "a/b", ".hidden"}) {
    Manifest manifest = some_manifest;
    manifest.parts[0].name = name;
    const std::string text = encode_manifest(manifest);
    CHECK_FALSE(decode_manifest("m", as_bytes(text), 7).ok());
  }
}

TEST_CASE("a record keeps names of files that are any bytes") {
  Record record{.root = 1001, .last_pid = 1017, .resident_bytes = 1 << 20};
  record.files = {{"/tmp/a b%\xFF\n\"", 12, true, {}}, {"/x", 3, false, "copy-1"}};
  record.deleted = {"/tmp/#12 \xFE"};
  record.programs = {{"/usr/bin/app\n", 4096, 0xFEDCBA9876543210u}};
  const std::string text = encode_record(record);
  const auto back = decode_record("r", as_bytes(text));
  REQUIRE(back.ok());
  CHECK(back->files[0].path == record.files[0].path);
  CHECK(back->files[1].copy == "copy-1");
  CHECK(back->deleted == record.deleted);
  CHECK(back->last_pid == 1017);
  REQUIRE(back->programs.size() == 1);
  CHECK(back->programs[0].path == record.programs[0].path);
  CHECK(back->programs[0].bytes == 4096);
  CHECK(back->programs[0].build == record.programs[0].build);
}

}  // namespace piracema::ckpt
