// What bench/streams/broadcast.py broadcasts: pictures that every one of so many viewers gets.
//
//     broadcast_app FOLDER VIEWERS BYTES SECONDS
//
// Each viewer writes when each picture came, in nanoseconds of the machine's clock, to FOLDER/viewer-N.

#include <piracema/piracema.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

using namespace piracema;

namespace {

std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

struct Camera {
  std::size_t bytes = 0;
  std::int64_t until = 0;

  std::optional<Buffer> operator()() {
    if (now_ns() >= until) return std::nullopt;
    Buffer picture;
    picture.resize(bytes);
    std::memset(picture.data(), 1, bytes);
    return picture;
  }
};

struct Viewer {
  std::string folder;
  std::uint32_t number = 0;
  std::vector<std::int64_t> came;

  void start(const Context& context) { number = context.replica; }
  void operator()(const Buffer&) { came.push_back(now_ns()); }
  void finish() {
    const std::string path = folder + "/viewer-" + std::to_string(number);
    std::FILE* const file = std::fopen(path.c_str(), "w");
    if (file == nullptr) std::abort();
    for (const std::int64_t at : came) std::fprintf(file, "%lld\n", static_cast<long long>(at));
    std::fclose(file);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: %s FOLDER VIEWERS BYTES SECONDS\n", argv[0]);
    return 2;
  }
  const auto seconds = static_cast<std::int64_t>(std::atof(argv[4]) * 1e9);
  const auto viewers = static_cast<std::uint32_t>(std::atoi(argv[2]));
  return run(pipeline(
      source("camera", Camera{static_cast<std::size_t>(std::atoll(argv[3])), now_ns() + seconds}),
      sink("show", Viewer{argv[1]}).replicas(viewers).broadcast()));
}
