#include <doctest/doctest.h>
#include <fcntl.h>
#include <piracema/codec.h>
#include <piracema/detail/callable.h>
#include <piracema/files.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "base/restore_progress.h"
#include "base/testing.h"
#include "connect/files/file_holder.h"
#include "connect/files/temporary_directory.h"

using namespace piracema;
using testing::error_of;
namespace fs = std::filesystem;

namespace {

static_assert(detail::Archived<FileSink<>> && detail::Archived<LineSink>);

const Context alone{.node = "write"}, another_job{.node = "write", .begins_job = true};

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// As the runtime does it: a copy of the prototype, its state, then `start`.
template <class Sink>
std::unique_ptr<Sink> started(const Sink& prototype, const Buffer& state = {},
                              const Context& context = alone) {
  auto sink = std::make_unique<Sink>(prototype);
  if (!state.empty()) {
    detail::BufferReader reader(state);
    std::istream stream(&reader);
    cereal::BinaryInputArchive archive(stream);
    archive(*sink);
  }
  sink->start(context);
  return sink;
}

template <class Sink>
Buffer snapshot(Sink& sink) {
  sink.prepare(1);
  Buffer state;
  detail::BufferWriter writer(state);
  std::ostream stream(&writer);
  cereal::BinaryOutputArchive archive(stream);
  archive(sink);
  return state;
}

using Text = FileSink<std::string>;

}  // namespace

TEST_CASE("items lie one behind the other in the file once it is finished") {
  const TemporaryDirectory directory;
  const std::string path = directory.path("out");
  const auto sink = started(FileSink(path));
  (*sink)({'a', '\0'});
  (*sink)({});
  (*sink)({'b'});
  CHECK_FALSE(fs::exists(path));
  CHECK(sink->length() == 3);
  sink->finish();
  CHECK(content(path) == std::string("a\0b", 3));
  CHECK_FALSE(fs::exists(path + ".partial"));
}

TEST_CASE("a line sink ends every item") {
  const TemporaryDirectory directory;
  const auto sink = started(LineSink(directory.path("out")));
  for (const std::string line : {"one", "", "three"}) (*sink)(line);
  sink->finish();
  CHECK(content(directory.path("out")) == "one\n\nthree\n");
}

TEST_CASE("a sink that nothing reaches leaves an empty file") {
  const TemporaryDirectory directory;
  started(Text(directory.path("out")))->finish();
  CHECK(fs::file_size(directory.path("out")) == 0);
}

TEST_CASE("a name that cannot be an output's is told before the work, not after it") {
  const TemporaryDirectory directory;
  CHECK(error_of([] { started(Text("")); }) ==
        "output '' cannot be created: want the name of a file, found none");
  CHECK_FALSE(fs::exists(".partial"));

  const std::string link = directory.path("link");
  fs::create_symlink("nowhere", link);
  CHECK(error_of([&] { started(Text(link)); }) ==
        "output '" + link + "' is a link to nothing: remove it or ask to overwrite");
  started(Text(link, true))->finish();
  CHECK(fs::is_regular_file(fs::symlink_status(link)));
}

TEST_CASE("each of several replicas has its own file") {
  const TemporaryDirectory directory;
  const Text prototype(directory.path("out"));
  for (std::uint32_t i = 0; i < 3; ++i) {
    const auto sink = started(prototype, {}, {.node = "write", .replica = i, .replicas = 3});
    (*sink)(std::to_string(i));
    sink->finish();
  }
  CHECK(content(directory.path("out.0")) == "0");
  CHECK(content(directory.path("out.2")) == "2");
  CHECK_FALSE(fs::exists(directory.path("out")));
}

TEST_CASE("a sink that crashes at any moment ends with the bytes of one that did not") {
  const TemporaryDirectory directory;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    std::vector<std::string> items;
    for (int i = 0; i < 30; ++i) {
      const std::size_t bytes = random.below(random.chance(0.1) ? 400'000 : 50'000);
      items.emplace_back(bytes, static_cast<char>('a' + i % 26));
    }
    std::string want;
    for (const std::string& item : items) want += item;

    const std::string path = directory.path(std::to_string(seed));
    const Text prototype(path);
    auto sink = started(prototype);
    Buffer state;
    std::size_t next = 0, next_saved = 0;
    while (next < items.size()) {
      (*sink)(items[next++]);
      if (random.chance(0.2)) {
        state = snapshot(*sink);
        next_saved = next;
      }
      if (random.chance(0.15)) {
        if (next == items.size() && random.chance(0.5)) sink->finish();
        const Context context{.node = "write", .previous_may_live = random.chance(0.5)};
        // Without a snapshot there is no knowing whose a finished output is; see below.
        if (state.empty()) fs::remove(path);
        if (!context.previous_may_live) sink.reset();  // It is gone, and its lock with it.
        sink = started(prototype, state, context);
        next = next_saved;
      }
    }
    sink->finish();
    CHECK(content(path) == want);
  }
}

TEST_CASE("a sink without a snapshot begins its own file again, but not somebody else's") {
  const TemporaryDirectory directory;
  const Text prototype(directory.path("out"));
  (*started(prototype))("lost");
  const auto sink = started(prototype);
  (*sink)("kept");
  sink->finish();
  CHECK(content(directory.path("out")) == "kept");
  CHECK(error_of([&] { started(prototype); }) ==
        "output '" + directory.path("out") + "' exists: remove it or ask to overwrite");
  CHECK(content(directory.path("out")) == "kept");
}

TEST_CASE(
    "an output that was complete before its job began again, without a snapshot, is the job's") {
  for (const bool previous_may_live : {false, true}) {
    const TemporaryDirectory directory;
    const Text prototype(directory.path("out"));
    const auto former = started(prototype);
    (*former)("lost");
    former->finish();
    const auto sink =
        started(prototype, {},
                {.node = "write", .previous_may_live = previous_may_live, .started_before = true});
    CHECK_FALSE(fs::exists(directory.path("out")));
    (*sink)("kept");
    sink->finish();
    CHECK(content(directory.path("out")) == "kept");
  }
}

TEST_CASE("a former writer that wakes up gives nothing the name of an output that is begun again") {
  const TemporaryDirectory directory;
  const Text prototype(directory.path("out"));
  const auto former = started(prototype);
  (*former)("lost");
  const auto sink =
      started(prototype, {}, {.node = "write", .previous_may_live = true, .started_before = true});
  CHECK(contains(error_of([&] { former->finish(); }), "was taken over by another process"));
  (*sink)("kept");
  sink->finish();
  CHECK(content(directory.path("out")) == "kept");
}

TEST_CASE("a sink that had finished stays finished") {
  const TemporaryDirectory directory;
  const Text prototype(directory.path("out"));
  auto sink = started(prototype);
  (*sink)("all");
  sink->finish();
  const Buffer state = snapshot(*sink);
  sink = started(prototype, state, {.node = "write", .previous_may_live = true});
  CHECK(sink->length() == 3);
  sink->finish();
  CHECK(content(directory.path("out")) == "all");

  directory.file("out", "al");
  CHECK(error_of([&] { started(prototype, state); }) ==
        "output '" + directory.path("out") + "' was complete with 3 bytes, found 2");
}

TEST_CASE("an output that another job writes is refused, and stays as it is, until that is gone") {
  const TemporaryDirectory directory;
  const std::string path = directory.path("out");
  const Text prototype(path, true);
  auto first = started(prototype);
  (*first)("first");
  const Buffer state = snapshot(*first);
  const std::string who = "process " + std::to_string(::getpid());
  const std::string refused =
      "output '" + path + "' is being written by " + who + ": every job wants its own";
  CHECK(error_of([&] { started(prototype, {}, another_job); }) == refused);
  CHECK(content(path + ".partial") == "first");

  // A replacement of the same job need not know whether the former one is gone.
  const auto second = started(prototype, state, {.node = "write", .previous_may_live = true});
  CHECK(error_of([&] { started(prototype, {}, another_job); }) == refused);
  first.reset();
  CHECK(error_of([&] { started(prototype, {}, another_job); }) == refused);
  second->finish();
  CHECK(content(path) == "first");
  started(prototype)->finish();
  CHECK(content(path).empty());
}

TEST_CASE("a former writer that is about to go is waited for, whatever it still does to its file") {
  for (const bool finishes : {false, true}) {
    const TemporaryDirectory directory;
    const Text prototype(directory.path("out"));
    auto former = started(prototype);
    (*former)("one ");
    const Buffer state = snapshot(*former);
    std::atomic<std::uint64_t> waited{0};
    std::thread leaving([&] {
      while (waited == 0) std::this_thread::yield();
      (*former)("redone");
      if (finishes) former->finish();
      former.reset();
    });
    const RestoreProgress counts(waited);
    const auto sink = started(prototype, state);
    leaving.join();
    CHECK_FALSE(fs::exists(directory.path("out")));
    (*sink)("two");
    sink->finish();
    CHECK(content(directory.path("out")) == "one two");
  }
}

TEST_CASE("a former writer that does not go is named in the end") {
  const TemporaryDirectory directory;
  const Text prototype(directory.path("out"));
  const auto former = started(prototype);
  const auto begun = std::chrono::steady_clock::now();
  CHECK(error_of([&] {
          started(prototype, snapshot(*former));
        }).find("is being written by process " + std::to_string(::getpid())) != std::string::npos);
  CHECK(std::chrono::steady_clock::now() - begun >= detail::leave_wait);
}

TEST_CASE("a frozen former writer that wakes up harms nothing") {
  const TemporaryDirectory directory;
  const Text prototype(directory.path("out"));
  const Context suspicious{.node = "write", .previous_may_live = true};

  const auto frozen = started(prototype);
  (*frozen)("one ");
  const Buffer state = snapshot(*frozen);
  (*frozen)("lost");
  frozen->prepare(2);

  const auto sink = started(prototype, state, suspicious);
  (*sink)("two");
  (*frozen)("woken");
  CHECK(error_of([&] { frozen->finish(); }) ==
        "output '" + directory.path("out") + "' was taken over by another process");
  sink->finish();
  CHECK(content(directory.path("out")) == "one two");
}

TEST_CASE("a former writer that finished before it was replaced is undone") {
  const TemporaryDirectory directory;
  const Text prototype(directory.path("out"));
  for (const bool may_live : {false, true}) {
    const auto former = started(Text(directory.path("out"), true));
    (*former)("one ");
    const Buffer state = snapshot(*former);
    (*former)("doubled");
    former->finish();
    const auto sink = started(prototype, state, {.node = "write", .previous_may_live = may_live});
    CHECK_FALSE(fs::exists(directory.path("out")));
    (*sink)("two");
    sink->finish();
    CHECK(content(directory.path("out")) == "one two");
  }
}

TEST_CASE("a former writer that gives its file the last name while it is replaced is undone") {
  const TemporaryDirectory directory;
  const Text prototype(directory.path("out"));
  const auto former = started(prototype);
  (*former)("one ");
  const Buffer state = snapshot(*former);
  // As when it renames its file after the new writer has opened it.
  fs::create_hard_link(directory.path("out.partial"), directory.path("out"));
  const auto sink = started(prototype, state, {.node = "write", .previous_may_live = true});
  CHECK_FALSE(fs::exists(directory.path("out")));
  (*sink)("two");
  sink->finish();
  CHECK(content(directory.path("out")) == "one two");
}

TEST_CASE("an output is replaced only when asked to, and when the new one is complete") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("out", "old");
  CHECK(error_of([&] { started(Text(path)); }) ==
        "output '" + path + "' exists: remove it or ask to overwrite");
  const auto sink = started(Text(path, true));
  (*sink)("new");
  sink->prepare(1);
  CHECK(content(path) == "old");
  sink->finish();
  CHECK(content(path) == "new");
}

TEST_CASE("an output that appears while the job runs is not lost") {
  const TemporaryDirectory directory;
  const std::string path = directory.path("out");
  const auto sink = started(Text(path));
  directory.file("out", "somebody's");
  CHECK(error_of([&] { sink->finish(); }) ==
        "output '" + path + ".partial' cannot be renamed to '" + path + "': File exists");
  CHECK(content(path) == "somebody's");
}

TEST_CASE("an output that cannot be written is an error that says why") {
  const TemporaryDirectory directory;
  const std::string nowhere = directory.path("no/such/out");
  CHECK(error_of([&] { started(Text(nowhere)); }) ==
        "output '" + nowhere + ".partial' cannot be created: No such file or directory");
  CHECK(error_of([&] { started(Text("/dev/null", true)); }) ==
        "output '/dev/null' exists and is not a regular file");
  CHECK(error_of([&] { started(Text(directory.path(""), true)); }) ==
        "output '" + directory.path("") + "' exists and is not a regular file");
}

TEST_CASE("a full disk is an error that says why and where") {
  const TemporaryDirectory directory;
  // The limit on the size of a file refuses a write as a full disk does.
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{300'000, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const auto sink = started(Text(directory.path("out")));
  const std::string error = error_of([&] {
    (*sink)(std::string(290'000, 'x'));
    (*sink)(std::string(20'000, 'x'));
    sink->prepare(1);
  });
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  CHECK(error == "output '" + directory.path("out.partial") +
                     "' cannot be written at byte 300000: File too large: files may have 300000 "
                     "bytes here (ulimit -f)");
}

TEST_CASE("an output that has lost committed bytes is refused") {
  const TemporaryDirectory directory;
  const Text prototype(directory.path("out"));
  auto sink = started(prototype);
  (*sink)("twelve bytes");
  const Buffer state = snapshot(*sink);
  const std::string partial = directory.path("out.partial");
  REQUIRE(::truncate(partial.c_str(), 5) == 0);
  CHECK(error_of([&] { started(prototype, state); }) ==
        "output '" + partial + "' was cut: want at least 12 bytes, found 5");
  fs::remove(partial);
  CHECK(error_of([&] { started(prototype, state); }) ==
        "output '" + partial + "' cannot be opened again: No such file or directory");
}
