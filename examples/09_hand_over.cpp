// Large items whose memory is handed on instead of copied: pictures that a farm makes lighter.
//
//     09_hand_over
//     piracema run -n 3 ./09_hand_over

#include <piracema/piracema.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <utility>

using namespace piracema;

struct Picture {
  Buffer pixels;
};

template <>
struct piracema::Codec<Picture> {
  static constexpr std::size_t fixed_bytes = 0;
  static Buffer hand_over(Picture picture) { return std::move(picture.pixels); }
  static Picture take_over(Buffer bytes) { return {std::move(bytes)}; }
  // For those that are small, or that their sender keeps: the same bytes, copied.
  static void encode(const Picture& picture, Buffer& out) {
    out.append(picture.pixels.data(), picture.pixels.size());
  }
  static Picture decode(Bytes bytes) { return {Buffer(bytes)}; }
};

struct Camera {
  int left = 100;

  std::optional<Picture> operator()() {
    if (left == 0) return std::nullopt;
    left -= 1;
    Picture picture;
    picture.pixels.resize(std::size_t{1} << 20);
    std::memset(picture.pixels.data(), left, picture.pixels.size());
    return picture;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(left);
  }
};

Picture lighten(Picture picture) {
  for (std::size_t i = 0; i < picture.pixels.size(); ++i)
    picture.pixels.data()[i] |= std::byte{128};
  return picture;
}

struct Light {
  std::uint64_t sum = 0;

  void operator()(const Picture& picture) {
    for (const std::byte pixel : Bytes(picture.pixels)) sum += std::to_integer<unsigned>(pixel);
  }
  void finish() const { std::printf("light: %" PRIu64 "\n", sum); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(sum);
  }
};

int main() {
  return run(
      pipeline(source("camera", Camera{}), farm("lighten", 2, lighten), sink("light", Light{})));
}
