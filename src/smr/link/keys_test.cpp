#include "smr/link/keys.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "smr/replica/testing.h"

using namespace piracema;
using namespace piracema::smr;
using namespace piracema::smr::testing;

TEST_CASE("a key comes back from its file, and nobody but the owner may read that") {
  const Folder folder;
  const KeyPair key = KeyPair::generate();
  REQUIRE(write_key(folder / "key", key).ok());

  struct stat status {};
  REQUIRE(::stat((folder / "key").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  const auto again = read_key(folder / "key");
  REQUIRE(again.ok());
  CHECK(again->public_key() == key.public_key());
}

TEST_CASE("a key file that others may read is refused") {
  const Folder folder;
  REQUIRE(write_key(folder / "key", key_of(1)).ok());
  REQUIRE(::chmod((folder / "key").c_str(), 0640) == 0);

  const auto key = read_key(folder / "key");
  REQUIRE_FALSE(key.ok());
  CHECK(key.error().code == Errc::config);
  CHECK(key.error().message.find("want permissions 0600, found 0640") != std::string::npos);
}

TEST_CASE("a key is never written over") {
  const Folder folder;
  REQUIRE(write_key(folder / "key", key_of(1)).ok());
  CHECK_FALSE(write_key(folder / "key", key_of(2)).ok());
  CHECK(read_key(folder / "key")->public_key() == key_of(1).public_key());
}

TEST_CASE("a file that is no key is refused, whatever it holds") {
  const Folder folder;
  for (const std::string& text :
       {std::string(), std::string("piracema-key-1 "),
        "piracema-key-1 " + std::string(64, 'g') + "\n", std::string(100'000, 'x')}) {
    std::ofstream(folder / "key") << text;
    REQUIRE(::chmod((folder / "key").c_str(), 0600) == 0);
    CHECK_FALSE(read_key(folder / "key").ok());
  }
  CHECK(read_key(folder / "none").error().code == Errc::not_found);
  CHECK_FALSE(read_key(folder / ".").ok());
}

TEST_CASE("a signature convinces, and only of what was signed by whom") {
  const Buffer signature = key_of(1).sign(as_bytes("yes"));
  CHECK(verify_signature(key_of(1).public_key(), as_bytes("yes"), signature));
  CHECK_FALSE(verify_signature(key_of(1).public_key(), as_bytes("no"), signature));
  CHECK_FALSE(verify_signature(key_of(2).public_key(), as_bytes("yes"), signature));
  CHECK_FALSE(verify_signature(key_of(1).public_key(), as_bytes("yes"), {}));
}

TEST_CASE("two owners share a key that no third one has, another for each purpose") {
  const KeyPair a = key_of(1), b = key_of(2), c = key_of(3);
  CHECK(a.shared_with(b.public_key(), "x") == b.shared_with(a.public_key(), "x"));
  CHECK(a.shared_with(b.public_key(), "x") != a.shared_with(b.public_key(), "y"));
  CHECK(a.shared_with(b.public_key(), "x") != c.shared_with(a.public_key(), "x"));
  CHECK(a.shared_with(b.public_key(), "x") != c.shared_with(b.public_key(), "x"));
}

TEST_CASE("a text that is no public key is refused") {
  CHECK(parse_public_key(hex_key_of(1)).ok());
  CHECK_FALSE(parse_public_key("").ok());
  CHECK_FALSE(parse_public_key(std::string(63, 'a')).ok());
  CHECK_FALSE(parse_public_key(std::string(64, 'x')).ok());
  // Of small order: everybody would share the same "secret" with its owner.
  CHECK_FALSE(parse_public_key(std::string(64, '0')).ok());
}
