// What bench/streams/sites.py runs: pictures that go through eight stages.
//
//     sites_app OUT ITEMS BYTES
//
// OUT gets a line for each picture: its number, how many stages it has gone through, and when it
// came, in nanoseconds of the machine's clock.

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

struct Head {
  std::uint64_t number = 0, stages = 1;
};

struct Camera {
  std::uint64_t items = 0;
  std::size_t bytes = 0;
  std::uint64_t sent = 0;

  std::optional<Buffer> operator()() {
    if (sent == items) return std::nullopt;
    Buffer picture;
    picture.resize(bytes);
    std::memset(picture.data(), 1, bytes);
    const Head head{.number = ++sent};
    std::memcpy(picture.data(), &head, sizeof head);
    return picture;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(sent);
  }
};

Head head_of(const Buffer& picture) {
  Head head;
  std::memcpy(&head, picture.data(), sizeof head);
  return head;
}

Buffer touch(const Buffer& picture) {
  Buffer next = picture;
  Head head = head_of(picture);
  head.stages += 1;
  std::memcpy(next.data(), &head, sizeof head);
  return next;
}

struct Show {
  std::string out;
  std::FILE* file = nullptr;

  void start(const Context&) {
    file = std::fopen(out.c_str(), "w");
    if (file == nullptr) std::abort();
  }
  void operator()(const Buffer& picture) {
    const Head head = head_of(picture);
    std::fprintf(file, "%llu %llu %lld\n", static_cast<unsigned long long>(head.number),
                 static_cast<unsigned long long>(head.stages + 1),
                 static_cast<long long>(std::chrono::steady_clock::now().time_since_epoch() /
                                        std::chrono::nanoseconds(1)));
    std::fflush(file);
  }
};

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t bytes = argc == 4 ? std::strtoull(argv[3], nullptr, 10) : 0;
  if (bytes < sizeof(Head)) {
    std::fprintf(stderr, "usage: %s OUT ITEMS BYTES, at least %zu\n", argv[0], sizeof(Head));
    return 2;
  }
  return run(pipeline(source("camera", Camera{std::strtoull(argv[2], nullptr, 10), bytes}),
                      node("crop", touch), node("scale", touch), node("denoise", touch),
                      node("detect", touch), node("track", touch), node("label", touch),
                      sink("show", Show{argv[1]})));
}
