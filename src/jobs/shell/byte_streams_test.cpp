#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <string>

#include "base/refused_writes.h"
#include "jobs/shell/byte_reader.h"
#include "jobs/shell/byte_writer.h"

using namespace piracema;
using namespace piracema::jobs;

namespace {

struct Pipe {
  Fd read, write;
  Pipe() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    read = Fd(ends[0]);
    write = Fd(ends[1]);
  }
};

/// What a reader or a writer has told, from its thread.
class Told {
 public:
  void add(const std::string& bytes) {
    const std::lock_guard lock(mutex_);
    all_ += bytes;
    ended_ = ended_ || bytes.empty();
    changed_.notify_all();
  }
  void count(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    counted_ += bytes;
    changed_.notify_all();
  }
  /// Of a writer.
  ByteWriter::Events events() {
    return {.wrote = [this](std::size_t bytes) { count(bytes); }, .unread = [this] { add(""); }};
  }
  std::string wait_for_end() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_; });
    return all_;
  }
  void wait_for_count(std::size_t bytes) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return counted_ >= bytes; });
    CHECK(counted_ == bytes);
  }
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return all_.size();
  }
  void wait_for_size(std::size_t bytes) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return all_.size() >= bytes; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string all_;
  std::size_t counted_ = 0;
  bool ended_ = false;
};

std::string many_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  for (std::size_t at = 0; at < count; ++at) bytes[at] = static_cast<char>(at * 7 + at / 251);
  return bytes;
}

}  // namespace

TEST_CASE("what is written to one end of a pipe is read at the other, and its end") {
  Pipe pipe;
  Told read, wrote;
  ByteReader reader(pipe.read.get(), [&](const std::string& bytes) {
    read.add(bytes);
    reader.taken(bytes.size());
  });
  ByteWriter writer(std::move(pipe.write), wrote.events());
  const std::string all = many_bytes(5 * ByteReader::ahead_max + 17);
  for (std::size_t at = 0; at < all.size(); at += 100'000) writer.write(all.substr(at, 100'000));
  writer.end();
  CHECK(read.wait_for_end() == all);
  wrote.wait_for_count(all.size());
}

TEST_CASE("a file is read to its end, and nothing at all has an end, too") {
  char name[] = "/tmp/piracema-bytes-XXXXXX";
  const Fd file(::mkstemp(name));
  REQUIRE(file);
  ::unlink(name);
  REQUIRE(::write(file.get(), "hello", 5) == 5);
  ::lseek(file.get(), 0, SEEK_SET);
  const Fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Told of_file, of_nothing;
  const ByteReader first(file.get(), [&](const std::string& bytes) { of_file.add(bytes); });
  const ByteReader second(nothing.get(), [&](const std::string& bytes) { of_nothing.add(bytes); });
  CHECK(of_file.wait_for_end() == "hello");
  CHECK(of_nothing.wait_for_end().empty());
}

TEST_CASE("no more is read than was taken and a bound") {
  const Fd endless(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  Told read;
  ByteReader reader(endless.get(), [&](const std::string& bytes) { read.add(bytes); });
  // A piece may end beyond it.
  constexpr std::size_t piece = std::size_t{64} << 10;
  read.wait_for_size(ByteReader::ahead_max);
  CHECK(read.size() < ByteReader::ahead_max + piece);
  reader.taken(ByteReader::ahead_max);
  read.wait_for_size(2 * ByteReader::ahead_max);
  CHECK(read.size() < 2 * ByteReader::ahead_max + piece);
}

TEST_CASE("a reader that waits ends at once, and so does a writer that nobody reads") {
  Pipe quiet, full;
  const ByteReader reader(quiet.read.get(), [](const std::string&) {});
  Told wrote;
  ByteWriter writer(std::move(full.write), wrote.events());
  writer.write(many_bytes(1'000'000));
  pollfd readable{.fd = full.read.get(), .events = POLLIN, .revents = 0};
  CHECK(::poll(&readable, 1, -1) == 1);
}

TEST_CASE("what nobody reads any more is dropped, and counted all the same") {
  refuse_writes_to_nobody();
  Pipe pipe;
  pipe.read.close();
  Told wrote;
  ByteWriter writer(std::move(pipe.write), wrote.events());
  writer.write(many_bytes(300'000));
  writer.write("more");
  wrote.wait_for_count(300'004);
  CHECK(wrote.wait_for_end().empty());
  writer.end();
  writer.wait();
}
