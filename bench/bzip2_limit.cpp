#include "bench/bzip2_limit.h"

#include <bzlib.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/ensure.h"
#include "base/fd.h"

namespace piracema::bench {

namespace {

constexpr std::size_t block_bytes = 900'000;
// What bzip2 promises not to exceed (its manual, section 3.5.1).
constexpr std::size_t packed_bytes_max = block_bytes + block_bytes / 100 + 600;

void compress_blocks(int file, std::atomic<off_t>& next) {
  std::vector<char> block(block_bytes), packed(packed_bytes_max);
  while (true) {
    const ssize_t bytes = ::pread(file, block.data(), block_bytes, next.fetch_add(block_bytes));
    ENSURE(bytes >= 0);
    if (bytes == 0) return;
    auto packed_bytes = static_cast<unsigned>(packed.size());
    ENSURE(BZ2_bzBuffToBuffCompress(packed.data(), &packed_bytes, block.data(),
                                    static_cast<unsigned>(bytes), 9, 0, 0) == BZ_OK);
  }
}

}  // namespace

void compress_and_drop(const std::filesystem::path& file, unsigned threads) {
  const Fd in(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!in) throw std::runtime_error("cannot read " + file.string());
  std::atomic<off_t> next{0};
  std::vector<std::jthread> running;
  for (unsigned i = 0; i < threads; ++i) {
    running.emplace_back([&] { compress_blocks(in.get(), next); });
  }
}

}  // namespace piracema::bench
