#include <doctest/doctest.h>
#include <piracema/codec.h>
#include <piracema/detail/callable.h>
#include <piracema/files.h>
#include <piracema/sequence.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "connect/files/temporary_directory.h"

using namespace piracema;

namespace {

static_assert(detail::Archived<Sequence> && detail::Archived<FileBlocks> &&
              detail::Archived<FileLines>);

Context replica(std::uint32_t index, std::uint32_t replicas) {
  return {.node = "read", .replica = index, .replicas = replicas};
}

template <class Source>
auto rest_of(Source& source) {
  std::vector<typename detail::SourceItem<Source>> items;
  while (auto item = source()) items.push_back(std::move(*item));
  return items;
}

template <class Source>
auto all_of_share(Source source, std::uint32_t index, std::uint32_t replicas) {
  source.start(replica(index, replicas));
  return rest_of(source);
}

// What all replicas give, one behind the other.
template <class Source>
auto all_of(const Source& source, std::uint32_t replicas) {
  auto items = all_of_share(source, 0, replicas);
  for (std::uint32_t i = 1; i < replicas; ++i) {
    for (auto& item : all_of_share(source, i, replicas)) items.push_back(std::move(item));
  }
  return items;
}

template <class T>
Buffer saved(T& object) {
  Buffer state;
  detail::BufferWriter writer(state);
  std::ostream stream(&writer);
  cereal::BinaryOutputArchive archive(stream);
  archive(object);
  return state;
}

template <class T>
void restore(T& object, const Buffer& state) {
  detail::BufferReader reader(state);
  std::istream stream(&reader);
  cereal::BinaryInputArchive archive(stream);
  archive(object);
}

// Saves after every item and checks that a new object goes on with the next one.
template <class Source>
void check_every_position(const Source& prototype, std::uint32_t index, std::uint32_t replicas) {
  const auto items = all_of_share(prototype, index, replicas);
  Source source = prototype;
  source.start(replica(index, replicas));
  for (std::size_t i = 0; i <= items.size(); ++i) {
    Source again = prototype;
    restore(again, saved(source));
    again.start(replica(index, replicas));
    const auto rest = rest_of(again);
    REQUIRE(std::equal(rest.begin(), rest.end(), items.begin() + static_cast<std::ptrdiff_t>(i),
                       items.end()));
    source();
  }
}

std::string joined(const std::vector<std::vector<char>>& blocks) {
  std::string text;
  for (const auto& block : blocks) text.append(block.begin(), block.end());
  return text;
}

// Lines of all kinds: empty ones, some with '\0' and '\r', some longer than a share.
std::string random_text(std::uint64_t seed, bool ends_with_newline) {
  Random random(seed);
  std::string text;
  for (int line = 0; line < 40; ++line) {
    const std::uint64_t length = random.chance(0.1) ? random.below(400) : random.below(12);
    for (std::uint64_t i = 0; i < length; ++i) text += "ab\0\r"[random.below(4)];
    text += '\n';
  }
  if (!ends_with_newline) text += "the last one";
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t newline = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, newline - at));
    at = newline + 1;
  }
  return lines;
}

template <class Source>
std::string error_of_start(Source source, std::uint32_t replicas = 1) {
  try {
    source.start(replica(0, replicas));
    while (source()) {
    }
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a sequence is shared out once whatever the number of replicas") {
  for (std::uint32_t replicas = 1; replicas <= 7; ++replicas) {
    for (const std::int64_t last : {-6, -5, -1, 3, 1000}) {
      std::vector<std::int64_t> want;
      for (std::int64_t n = -5; n <= last; ++n) want.push_back(n);
      CHECK(all_of(Sequence(-5, last), replicas) == want);
    }
  }
}

TEST_CASE("a sequence reaches the ends of its type") {
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  CHECK(all_of(Sequence(most - 1, most), 1) == std::vector<std::int64_t>{most - 1, most});
  CHECK(all_of(Sequence(most, least), 2).empty());
  CHECK(error_of_start(Sequence(least, most)) ==
        "a sequence of 2^64 numbers: want at most 2^64 - 1");
  Sequence wide(least, most - 1);
  wide.start(replica(1, 2));
  CHECK(wide() == 0);
}

TEST_CASE("a sequence goes on from every position") {
  check_every_position(Sequence(1, 20), 0, 1);
  check_every_position(Sequence(1, 20), 2, 3);
}

TEST_CASE("blocks cover a file once whatever the number of replicas") {
  const TemporaryDirectory directory;
  for (const std::size_t bytes : {0, 1, 9, 10, 11, 99, 100, 101}) {
    const std::string text = random_text(bytes, true).substr(0, bytes);
    const std::string path = directory.file("input", text);
    const auto want = all_of(FileBlocks(path, 10), 1);
    CHECK(want.size() == (bytes + 9) / 10);
    for (std::uint32_t replicas = 1; replicas <= 7; ++replicas) {
      const auto blocks = all_of(FileBlocks(path, 10), replicas);
      CHECK(joined(blocks) == text);
      CHECK(blocks == want);
    }
  }
}

TEST_CASE("lines cover a file once whatever the number of replicas") {
  const TemporaryDirectory directory;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const std::string text = random_text(seed, seed % 2 == 0);
    const std::string path = directory.file("input", text);
    for (std::uint32_t replicas = 1; replicas <= 7; ++replicas) {
      CAPTURE(seed);
      CAPTURE(replicas);
      CHECK(all_of(FileLines(path), replicas) == lines_of(text));
    }
  }
}

TEST_CASE("a file of no lines, of one without end, and of more replicas than bytes") {
  const TemporaryDirectory directory;
  for (const std::string text : {"", "\n", "\n\n", "x", "x\ny"}) {
    const std::string path = directory.file("input", text);
    CHECK(all_of(FileLines(path), 1) == lines_of(text));
    CHECK(all_of(FileLines(path), 7) == lines_of(text));
  }
}

TEST_CASE("lines that are longer than the window of the reader are whole") {
  const TemporaryDirectory directory;
  const std::string text = std::string(700'000, 'a') + "\n" + std::string(300'000, 'b') + "\nc\n";
  const std::string path = directory.file("input", text);
  CHECK(all_of(FileLines(path), 1) == lines_of(text));
  CHECK(all_of(FileLines(path), 3) == lines_of(text));
}

TEST_CASE("a file source goes on from every position") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("input", random_text(7, false));
  for (std::uint32_t index = 0; index < 3; ++index) {
    check_every_position(FileBlocks(path, 16), index, 3);
    check_every_position(FileLines(path), index, 3);
  }
}

TEST_CASE("a restored source keeps its share although the file has grown") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("input", "one\ntwo\n");
  FileLines source(path);
  source.start(replica(0, 1));
  CHECK(source() == "one");
  const Buffer state = saved(source);
  std::ofstream(path, std::ios::app) << "three\n";
  FileLines again(path);
  restore(again, state);
  again.start(replica(0, 1));
  CHECK(rest_of(again) == std::vector<std::string>{"two"});
}

TEST_CASE("progress grows from 0 to 1") {
  const TemporaryDirectory directory;
  FileBlocks source(directory.file("input", std::string(100, 'x')), 25);
  source.start(replica(0, 1));
  CHECK(source.progress() == 0);
  source();
  CHECK(source.progress() == doctest::Approx(0.25));
  rest_of(source);
  CHECK(source.progress() == 1);
}

TEST_CASE("input that cannot be read is an error that says why") {
  const TemporaryDirectory directory;
  const std::string missing = directory.path("missing");
  CHECK(error_of_start(FileBlocks(missing, 10)) ==
        "input '" + missing + "' cannot be opened: No such file or directory");
  CHECK(error_of_start(FileLines(directory.path(""))) ==
        "input '" + directory.path("") +
            "' cannot be used: want a regular file, found a directory");
  CHECK(error_of_start(FileLines("/dev/zero")) ==
        "input '/dev/zero' cannot be used: want a regular file, found a device");
  const std::string pipe = directory.path("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(error_of_start(FileLines(pipe)) ==
        "input '" + pipe + "' cannot be used: want a regular file, found a pipe");
}

TEST_CASE("a block of no bytes or too many is refused") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("input", "text");
  CHECK(error_of_start(FileBlocks(path, 0)) ==
        "blocks of input '" + path + "': want 1 to 1073741824 bytes, found 0");
  CHECK(error_of_start(FileBlocks(path, (std::size_t{1} << 30) + 1)) != "no error");
}

TEST_CASE("a line above the limit is an error that says where it begins") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("input", "12345\n123456\n");
  CHECK(error_of_start(FileLines(path, 6)) == "no error");
  CHECK(error_of_start(FileLines(path, 5)) ==
        "input '" + path + "': the line at byte 6: want at most 5 bytes, found more");
}

TEST_CASE("a file that is cut while it is read is an error, not a signal") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("input", std::string(100, 'x'));
  FileBlocks source(path, 40);
  source.start(replica(0, 1));
  REQUIRE(source());
  const Buffer state = saved(source);
  REQUIRE(::truncate(path.c_str(), 60) == 0);
  CHECK_THROWS_WITH(
      source(),
      ("input '" + path + "' was cut while it was read: want 100 bytes, as at the start, found 60")
          .c_str());
  FileBlocks again(path, 40);
  restore(again, state);
  CHECK_THROWS_WITH(
      again.start(replica(0, 1)),
      ("input '" + path + "' was cut: want 100 bytes, as at the start, found 60").c_str());
}

TEST_CASE("several replicas notice that a file grows below them") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("input", "one\ntwo\n");
  FileLines source(path);
  source.start(replica(0, 2));
  std::ofstream(path, std::ios::app) << "three\n";
  REQUIRE(source() == "one");
  CHECK_THROWS_WITH(
      source(),
      ("input '" + path + "' changed while it was read: want 8 bytes, as at the start, found 14")
          .c_str());
}

TEST_CASE("a saved position that no such source has is refused") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("input", "one\ntwo\n");
  // Size, begin, end, position: of a file of 8 bytes.
  using Fields = std::vector<std::uint64_t>;
  for (const Fields& fields : {Fields{8, 4, 2, 4}, Fields{8, 0, 9, 0}, Fields{8, 0, 8, 9},
                               Fields{8, 4, 8, 3}, Fields{9, 0, 9, 0}}) {
    Buffer state;
    state.append("\1", 1);
    state.append(fields.data(), fields.size() * sizeof(std::uint64_t));
    FileLines source(path);
    restore(source, state);
    CHECK_THROWS_AS(source.start(replica(0, 1)), std::runtime_error);
  }

  Sequence numbers(1, 3);
  Buffer done;
  const std::uint64_t four = 4;
  done.append(&four, sizeof four);
  restore(numbers, done);
  CHECK_THROWS_AS(numbers.start(replica(0, 1)), std::runtime_error);
}
