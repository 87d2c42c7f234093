#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "smr/link/keys.h"

/// What the tests of the node share.
namespace piracema::smr::testing {

/// The same key for the same number, in every run.
inline KeyPair key_of(std::uint8_t number) {
  KeyPair::Seed seed{};
  seed[0] = std::byte{number};
  return KeyPair(seed);
}

inline std::string hex_key_of(std::uint8_t number) { return hex_of(key_of(number).public_key()); }

inline Buffer words(std::string_view text) { return Buffer(as_bytes(text)); }

/// Gone with the test.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "smr-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace piracema::smr::testing
