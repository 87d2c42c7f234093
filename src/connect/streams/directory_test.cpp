#include <piracema/detail/callable.h>
#include <piracema/directory.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "connect/files/temporary_directory.h"
#include "connect/streams/streams_testing.h"

using namespace piracema;
using namespace piracema::testing;
namespace fs = std::filesystem;

namespace {

static_assert(detail::Archived<DirectoryLines>);

using Lines = Running<DirectoryLines>;

void append(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::app) << text;
}

// What is not told of is looked for after an hour: the test hangs if it is not told of.
const DirectoryOptions told{.end_mark = "END", .rescan = std::chrono::hours(1)};

}  // namespace

TEST_CASE("files that are there, that appear and that grow are read, and it ends at the mark") {
  const TemporaryDirectory directory;
  append(directory.path("b"), "b1\nb2\n");
  append(directory.path("a"), "a1\n\na3");
  append(directory.path(".hidden"), "no\n");
  fs::create_directory(directory.path("folder"));
  Lines lines(DirectoryLines(directory.path(""), told));
  CHECK(lines.next(4) == Texts{"a1", "", "b1", "b2"});
  CHECK(lines.has_nothing_yet());

  append(directory.path("a"), " and more\na4\n");
  CHECK(lines.next(2) == Texts{"a3 and more", "a4"});
  append(directory.path("c"), "c1\nc2");
  CHECK(lines.next() == "c1");
  fs::rename(directory.path(".hidden"), directory.path("d"));
  CHECK(lines.next() == "no");
  append(directory.path("END"), "");
  CHECK(lines.next() == "c2");
  CHECK(lines.has_ended());
}

TEST_CASE("a source that goes on from its state reads no line twice and leaves none out") {
  const TemporaryDirectory directory;
  Texts wanted;
  for (const std::string name : {"x", "y", "z"}) {
    for (int i = 0; i < 100; ++i) wanted.push_back(name + std::to_string(i));
  }
  // At each line of all that there are, with what comes later beside it.
  for (std::size_t at = 0; at <= 200; at += 7) {
    const TemporaryDirectory fresh;
    const auto fill = [&](const std::string& name) {
      std::string text;
      for (int i = 0; i < 100; ++i) text += name + std::to_string(i) + "\n";
      append(fresh.path(name), text);
    };
    fill("x");
    fill("y");
    const DirectoryLines prototype(fresh.path(""), told);
    Lines before(prototype);
    Texts found = before.next(at);
    const Buffer state = before.state();
    before.next(std::min<std::size_t>(50, 200 - at));  // Forgotten.
    fs::rename(fresh.path("x"), fresh.path("w"));
    fill("z");
    append(fresh.path("END"), "");
    Lines after(prototype, state);
    while (auto line = after.next()) found.push_back(*std::move(line));
    std::sort(found.begin(), found.end());
    auto all = wanted;
    std::sort(all.begin(), all.end());
    CHECK(found == all);
  }
}

TEST_CASE("replicas share the files out") {
  const TemporaryDirectory directory;
  std::multiset<std::string> wanted, found;
  for (int i = 0; i < 50; ++i) {
    append(directory.path(std::to_string(i)), std::to_string(i) + "\n");
    wanted.insert(std::to_string(i));
  }
  append(directory.path("END"), "");
  for (std::uint32_t replica = 0; replica < 3; ++replica) {
    Lines lines(DirectoryLines(directory.path(""), told), {},
                {.node = "in", .replica = replica, .replicas = 3});
    const Texts some = lines.next(1'000);
    CHECK(some.size() < 50);
    found.insert(some.begin(), some.end());
  }
  CHECK(found == wanted);
}

TEST_CASE("a file that is read may go, one that is cut or gone before is an error that names it") {
  const TemporaryDirectory directory;
  append(directory.path("a"), "a1\na2\n");
  Lines lines(DirectoryLines(directory.path(""), told));
  CHECK(lines.next(2) == Texts{"a1", "a2"});
  CHECK(lines.has_nothing_yet());
  fs::remove(directory.path("a"));
  append(directory.path("b"), "b1\nb2\n");
  CHECK(lines.next(2) == Texts{"b1", "b2"});
  CHECK(lines.has_nothing_yet());
  fs::resize_file(directory.path("b"), 3);
  CHECK(error_of([&] { lines.next(); }) ==
        "directory '" + directory.path("") + "': file 'b' was cut: want 6 bytes, found 3");

  append(directory.path("c"), std::string(1'000'000, 'x') + "\n" + std::string(1'000'000, 'y'));
  fs::remove(directory.path("b"));
  append(directory.path("c"), "\n");
  const DirectoryLines prototype(directory.path(""), told);
  Lines half(prototype);
  half.next();
  const Buffer state = half.state();
  fs::remove(directory.path("c"));
  append(directory.path("d"), "d1\n");
  // Nobody knows any more how long it was; but it had not been read to its end.
  Lines after(prototype, state);
  CHECK(error_of([&] { after.next(); }).find("file 'c' is gone") != std::string::npos);
}

TEST_CASE("what cannot be used as a directory of lines is told at the start") {
  const TemporaryDirectory directory;
  CHECK(error_of([&] { Lines(DirectoryLines(directory.path("no"))); }) ==
        "directory '" + directory.path("no") + "' cannot be opened: No such file or directory");
  append(directory.path("a"), std::string(200, 'x') + "\n");
  Lines lines(DirectoryLines(directory.path(""), {.line_bytes_max = 199}));
  CHECK(error_of([&] { lines.next(); }) ==
        "directory '" + directory.path("") +
            "': file 'a': the line at byte 0: want at most 199 bytes, found more");
}
