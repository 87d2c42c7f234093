#include "store/snapshot/manifest_format.h"

#include <doctest/doctest.h>

#include "base/hex.h"
#include "base/testing.h"
#include "wire/checksum.h"

namespace piracema::store {

namespace {

Manifest example() {
  Manifest manifest;
  manifest.snapshot = 7;
  manifest.epoch = 2;
  manifest.job = std::string("a\0\xff\"b", 5);
  manifest.layouts = {{"count", "{map(string, i64)}"}, {"write", "nothing"}};
  manifest.nodes = {{"read", 2, 0}, {"count", 3, 1'024}};
  manifest.created = 1'700'000'000;
  manifest.parts = {{0, 5, 0x0123456789abcdef},
                    {3, part_bytes_max, ~std::uint64_t{0}, true, {{5, 3}, {6, 0}}}};
  return manifest;
}

// As a version before there were states by key had it.
Manifest older_example() {
  Manifest manifest = example();
  manifest.nodes.clear();
  manifest.parts[1].indexed = false;
  manifest.parts[1].files.clear();
  return manifest;
}

// A manifest whose checksum is right, whatever `content` holds; its members are in order and
// without white space.
std::string sealed(const std::string& content) {
  return R"({"format": "piracema snapshot", "version": 1, "checksum": ")" +
         to_hex(wire::checksum(as_bytes(content))) + R"(", "content": )" + content + "}";
}

std::string sealed_parts(const std::string& parts) {
  return sealed(R"({"created":1,"epoch":1,"finished":false,"job":"","parts":)" + parts +
                R"(,"snapshot":7})");
}

// Of version 2, with this for its layouts.
std::string sealed_layouts(const std::string& layouts) {
  std::string text = sealed(R"({"created":1,"epoch":1,"finished":false,"job":"","layouts":)" +
                            layouts + R"(,"parts":[],"snapshot":7})");
  text.replace(text.find("\"version\": 1"), 12, "\"version\": 2");
  return text;
}

Result<Manifest> read(const std::string& text) {
  return decode_manifest("file", as_bytes(text), 7);
}

}  // namespace

TEST_CASE("a manifest comes back as it was, any byte in the name of its job") {
  const auto text = encode_manifest(example());
  REQUIRE(text);
  const auto manifest = read(*text);
  REQUIRE(manifest);
  CHECK(*manifest == example());
}

TEST_CASE("version 3 stays what it is") {
  const auto text = encode_manifest(example());
  REQUIRE(text);
  CHECK(*text == R"({
 "checksum": "514d4c5cfbe71c00",
 "content": {
  "created": 1700000000,
  "epoch": 2,
  "finished": false,
  "job": "6100ff2262",
  "layouts": {
   "count": "{map(string, i64)}",
   "write": "nothing"
  },
  "nodes": [
   {
    "key_groups": 0,
    "name": "read",
    "replicas": 2
   },
   {
    "key_groups": 1024,
    "name": "count",
    "replicas": 3
   }
  ],
  "parts": [
   {
    "bytes": 5,
    "checksum": "0123456789abcdef",
    "replica": 0
   },
   {
    "bytes": 68719476736,
    "checksum": "ffffffffffffffff",
    "files": [
     [
      5,
      3
     ],
     [
      6,
      0
     ]
    ],
    "replica": 3
   }
  ],
  "snapshot": 7
 },
 "format": "piracema snapshot",
 "version": 3
}
)");
}

TEST_CASE("version 2, which says nothing of numbers of replicas, is still read") {
  const auto manifest = read(R"({
 "checksum": "7cef9f4587cb52ce",
 "content": {
  "created": 1700000000,
  "epoch": 2,
  "finished": false,
  "job": "6100ff2262",
  "layouts": {
   "count": "{map(string, i64)}",
   "write": "nothing"
  },
  "parts": [
   {
    "bytes": 5,
    "checksum": "0123456789abcdef",
    "replica": 0
   },
   {
    "bytes": 68719476736,
    "checksum": "ffffffffffffffff",
    "replica": 3
   }
  ],
  "snapshot": 7
 },
 "format": "piracema snapshot",
 "version": 2
}
)");
  REQUIRE(manifest);
  CHECK(*manifest == older_example());
}

TEST_CASE("nodes and files that are none are refused") {
  const auto with = [](const std::string& nodes, const std::string& files) {
    std::string text =
        sealed(R"({"created":1,"epoch":1,"finished":false,"job":"","layouts":{},"nodes":)" + nodes +
               R"(,"parts":[{"bytes":5,"checksum":"0123456789abcdef","files":)" + files +
               R"(,"replica":0}],"snapshot":7})");
    return read(text.replace(text.find("\"version\": 1"), 12, "\"version\": 3"));
  };
  const std::string right = R"([{"key_groups":16,"name":"a","replicas":1}])";
  CHECK(with(right, "[[5,0],[6,0]]").ok());
  for (const std::string nodes :
       {"1", "[1]", "[{}]", R"([{"key_groups":16,"name":"a","replicas":0}])"}) {
    CHECK(with(nodes, "[]").error().code == Errc::corrupt);
  }
  for (const std::string files : {"1", "[1]", "[[5]]", "[[5,-1]]", "[[6,0],[5,0]]", "[[5,0],[5,0]]",
                                  "[[5,4294967296]]", "[[[5,0],0]]"}) {
    CHECK(with(right, files).error().code == Errc::corrupt);
  }
}

TEST_CASE("version 1, which says nothing of states, is still read") {
  const auto manifest = read(R"({
 "checksum": "460f4b1efb66ad6e",
 "content": {
  "created": 1700000000,
  "epoch": 2,
  "finished": false,
  "job": "6100ff2262",
  "parts": [
   {
    "bytes": 5,
    "checksum": "0123456789abcdef",
    "replica": 0
   },
   {
    "bytes": 68719476736,
    "checksum": "ffffffffffffffff",
    "replica": 3
   }
  ],
  "snapshot": 7
 },
 "format": "piracema snapshot",
 "version": 1
}
)");
  REQUIRE(manifest);
  Manifest wanted = older_example();
  wanted.layouts.clear();
  CHECK(*manifest == wanted);
}

TEST_CASE("another layout of the same content is the same manifest") {
  const auto manifest = read(sealed_parts("[]"));
  REQUIRE(manifest);
  CHECK(manifest->parts.empty());
}

TEST_CASE("another version says which one this program reads, whatever else is in the file") {
  const auto manifest = read(R"({"format": "piracema snapshot", "version": 4, "new": [[[]]]})");
  REQUIRE_FALSE(manifest);
  CHECK(manifest.error().code == Errc::refused);
  CHECK(manifest.error().message ==
        "file: this program reads versions 1 to 3 of the format, found 4");
}

TEST_CASE("a manifest of another snapshot is refused") {
  const auto text = encode_manifest(example());
  REQUIRE(text);
  const auto manifest = decode_manifest("file", as_bytes(*text), 8);
  REQUIRE_FALSE(manifest);
  CHECK(manifest.error().message == "file: want snapshot 8, found 7");
}

TEST_CASE("text that is no manifest is corrupt, whatever it is") {
  const std::string part = R"({"bytes":1,"checksum":"0123456789abcdef","replica":0})";
  const std::string deep(4'000'000, '[');
  for (
      const std::string& text : {
          std::string(),
          std::string("\0\0\0\0", 4),
          std::string("null"),
          std::string("[]"),
          std::string("{}"),
          std::string("\"\xff\xfe\""),
          std::string(R"({"format": "\ud800"})"),
          std::string(R"({"format": "piracema snapshot", "version": 1e999})"),
          std::string(R"({"format": "piracema snapshot", "version": "1"})"),
          std::string(R"({"format": "piracema snapshot", "version": -1})"),
          std::string(R"({"format": "piracema snapshot", "version": 18446744073709551616})"),
          std::string(R"({"format": "another", "version": 1})"),
          std::string(R"({"format": ["piracema snapshot"], "version": 1})"),
          deep,
          R"({"format": )" + deep,
          R"({"format": "piracema snapshot", "version": 1, "content": {"parts": )" + deep,
          sealed("7"),
          sealed("[]"),
          sealed("{}"),
          sealed_parts("{}"),
          sealed_parts("7"),
          sealed_parts("[7]"),
          sealed_parts("[{}]"),
          sealed_parts("[[[]]]"),
          sealed_parts("[" + part + "," + part + "]"),
          sealed_parts(R"([{"bytes":1,"checksum":"0123456789ABCDEF","replica":0}])"),
          sealed_parts(R"([{"bytes":1,"checksum":"01234567","replica":0}])"),
          sealed_parts(R"([{"bytes":1,"checksum":81985529216486895,"replica":0}])"),
          sealed_parts(R"([{"bytes":1,"checksum":"0123456789abcdef","replica":4294967296}])"),
          sealed_parts(R"([{"bytes":-1,"checksum":"0123456789abcdef","replica":0}])"),
          sealed_parts(R"([{"bytes":1.5,"checksum":"0123456789abcdef","replica":0}])"),
          sealed_parts(
              R"([{"bytes":9223372036854775808,"checksum":"0123456789abcdef","replica":0}])"),
          sealed_layouts("7"),
          sealed_layouts("[]"),
          sealed_layouts(R"({"count":7})"),
          sealed_layouts(R"({"count":{}})"),
          sealed(R"({"created":1,"epoch":1,"finished":0,"job":"","parts":[],"snapshot":7})"),
          sealed(R"({"created":1,"epoch":1,"finished":false,"job":"0g","parts":[],"snapshot":7})"),
          sealed(
              R"({"created":1,"epoch":4294967296,"finished":false,"job":"","parts":[],"snapshot":7})"),
      }) {
    CAPTURE(text.substr(0, 200));
    const auto manifest = read(text);
    REQUIRE_FALSE(manifest);
    CHECK(manifest.error().code == Errc::corrupt);
    CHECK(manifest.error().message.starts_with("file: "));
    CHECK(manifest.error().message.size() < 200);
  }
}

TEST_CASE("a manifest of version 2 has layouts, of nodes that are known, or of none") {
  CHECK(read(sealed_layouts("{}")));
  CHECK(read(sealed_layouts(R"({"count":"{i64}"})"))->layouts.at("count") == "{i64}");
  std::string without = sealed_parts("[]");
  without.replace(without.find("\"version\": 1"), 12, "\"version\": 2");
  CHECK(read(without).error().message == "file: want \"layouts\", found none");
}

TEST_CASE("deep nesting is given up at once, not followed to its end") {
  const std::string deep(4'000'000, '[');
  for (const std::string& text :
       {deep, R"({"content": {"parts": )" + deep, sealed_parts("[[[[[[[]]]]]]]")}) {
    CHECK(read(text).error().message == "file: is nested too deep");
  }
}

TEST_CASE("a manifest with more replicas than a reader accepts is not written") {
  Manifest manifest = example();
  manifest.parts.clear();
  for (ReplicaId replica = 0; replica < 120'000; ++replica)
    manifest.parts.push_back({replica, 1, 1});

  const auto text = encode_manifest(manifest);
  REQUIRE_FALSE(text);
  CHECK(text.error().code == Errc::refused);
}

}  // namespace piracema::store
