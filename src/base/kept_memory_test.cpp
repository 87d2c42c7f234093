#include <doctest/doctest.h>
#include <piracema/bytes.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

using namespace piracema;

namespace {

Buffer filled(std::size_t bytes, char with) {
  Buffer buffer;
  for (std::size_t i = 0; i < bytes; i += 1'000) {
    const std::string some(std::min<std::size_t>(1'000, bytes - i), with);
    buffer.append(some.data(), some.size());
  }
  return buffer;
}

bool holds(const Buffer& buffer, std::size_t bytes, char what) {
  return as_text(buffer) == std::string(bytes, what);
}

}  // namespace

TEST_CASE("a buffer keeps what it holds while it grows into and out of the kept sizes") {
  for (const std::size_t bytes : {1'000, 60'000, 70'000, 1'000'000, 5'000'000, 9'000'000}) {
    CAPTURE(bytes);
    CHECK(holds(filled(bytes, 'a'), bytes, 'a'));
  }
}

TEST_CASE("memory that was given back is used again, by one buffer at a time") {
  const Buffer first = filled(100'000, 'a');
  [[maybe_unused]] std::uintptr_t before = 0;
  {
    const Buffer second = filled(100'000, 'b');
    before = reinterpret_cast<std::uintptr_t>(second.data());
  }
  const Buffer third = filled(100'000, 'c');
  const Buffer fourth = filled(100'000, 'd');
#if !defined(__SANITIZE_ADDRESS__)
  CHECK(reinterpret_cast<std::uintptr_t>(third.data()) == before);
#endif
  CHECK(holds(first, 100'000, 'a'));
  CHECK(holds(third, 100'000, 'c'));
  CHECK(holds(fourth, 100'000, 'd'));
}

TEST_CASE("threads do not get into each other's memory") {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      const char mark = static_cast<char>('a' + t);
      for (int i = 0; i < 100; ++i) {
        const std::size_t bytes = 70'000u << (i % 5);
        if (!holds(filled(bytes, mark), bytes, mark)) wrong[t] += 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4));
}
