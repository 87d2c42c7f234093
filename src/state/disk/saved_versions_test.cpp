#include "state/disk/saved_versions.h"

#include <doctest/doctest.h>

#include <array>
#include <vector>

using namespace piracema;
using state::SavedVersions;
using Ids = std::vector<SavedVersions::Id>;

namespace {

std::array<bool, 256> only(std::uint8_t number) {
  std::array<bool, 256> numbers{};
  numbers[number] = true;
  return numbers;
}

}  // namespace

TEST_CASE("a cut gives what was written to a file, and what follows is of another version") {
  SavedVersions versions;
  const auto first = versions.now();
  versions.enter(first);
  versions.enter(first);
  CHECK(versions.file_of(first) == saved_in::none);
  CHECK(versions.cut(7) == first);
  CHECK(versions.now() != first);
  CHECK(versions.file_of(first) == 7);
  CHECK(versions.records_in(7) == 2);
  CHECK(versions.file_of(versions.now()) == saved_in::none);
  // One of them is written again.
  versions.leave(first);
  versions.enter(versions.now());
  CHECK(versions.records_in(7) == 1);
  CHECK(versions.records_in(saved_in::none) == 1);
}

TEST_CASE("what is read from one file is of one version, and no cut has its number") {
  SavedVersions versions;
  const auto read = versions.of_file(3);
  CHECK(versions.of_file(3) == read);
  CHECK(versions.of_file(4) != read);
  versions.cut(5);
  CHECK(versions.now() != read);
  CHECK(versions.now() != versions.of_file(4));
}

TEST_CASE("the versions that a file has are found, and none once it is forgotten") {
  SavedVersions versions;
  const auto first = versions.now();
  versions.cut(7);
  const auto second = versions.now();
  versions.cut(7);
  CHECK(versions.in_files(only(7)) == Ids{first, second});
  CHECK(versions.in_files(only(saved_in::none)) == Ids{versions.now()});
  versions.forget(only(7));
  CHECK(versions.in_files(only(7)).empty());
  CHECK(versions.in_files(only(saved_in::none)) == Ids{first, second, versions.now()});
}

TEST_CASE("a version without records is dropped, but for the one that is written now") {
  SavedVersions versions;
  const auto first = versions.now();
  versions.enter(first);
  versions.cut(7);
  const auto second = versions.now();
  versions.cut(8);
  CHECK(versions.drop_empty() == Ids{second});
  CHECK(versions.in_files(only(8)).empty());
  versions.leave(first);
  CHECK(versions.drop_empty() == Ids{first});
  CHECK(versions.drop_empty().empty());
  versions.enter(versions.now());
  CHECK(versions.records_in(saved_in::none) == 1);
}
