// What bench/streams/broadcast.py broadcasts: pictures that every one of so many viewers gets.
//
//     broadcast_app FOLDER VIEWERS BYTES
//
// Each viewer writes when each picture came, in nanoseconds of the machine's clock, to
// FOLDER/viewer-N. It does not end by itself.

#include <piracema/piracema.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

using namespace piracema;

namespace {

struct Camera {
  std::size_t bytes = 0;

  std::optional<Buffer> operator()() {
    Buffer picture;
    picture.resize(bytes);
    std::memset(picture.data(), 1, bytes);
    return picture;
  }
};

struct Viewer {
  std::string folder;
  std::FILE* file = nullptr;

  void start(const Context& context) {
    file = std::fopen((folder + "/viewer-" + std::to_string(context.replica)).c_str(), "w");
    if (file == nullptr) std::abort();
  }
  void operator()(const Buffer&) {
    std::fprintf(file, "%lld\n",
                 static_cast<long long>(std::chrono::steady_clock::now().time_since_epoch() /
                                        std::chrono::nanoseconds(1)));
    std::fflush(file);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s FOLDER VIEWERS BYTES\n", argv[0]);
    return 2;
  }
  const auto viewers = static_cast<std::uint32_t>(std::atoi(argv[2]));
  return run(pipeline(source("camera", Camera{static_cast<std::size_t>(std::atoll(argv[3]))}),
                      sink("show", Viewer{argv[1]}).replicas(viewers).broadcast()));
}
