// Items of many sizes whose memory is handed over, through a farm that changes them, in order.
//
//     pictures_app OUT [items=N] [until=FILE]
//
// The source ends after `items`, or once FILE exists. Writes "NUMBER BYTES SUM" lines; the sum is
// of all bytes.
#include <piracema/piracema.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>

#include "options.h"

using namespace piracema;

struct Picture {
  Buffer pixels;
};

template <>
struct piracema::Codec<Picture> {
  static constexpr std::size_t fixed_bytes = 0;
  static void encode(const Picture& picture, Buffer& out) {
    out.append(picture.pixels.data(), picture.pixels.size());
  }
  static Picture decode(Bytes in) { return {Buffer(in)}; }
  static Buffer hand_over(Picture picture) { return std::move(picture.pixels); }
  static Picture take_over(Buffer bytes) { return {std::move(bytes)}; }
};

struct Camera {
  std::int64_t items = 0;
  std::string until;
  std::int64_t sent = 0;

  std::optional<Picture> operator()() {
    static constexpr std::array<std::size_t, 6> sizes{0,      100,       handed_over_bytes_min - 1,
                                                      20'000, 1'000'000, 5'000'000};
    if (sent == items || (!until.empty() && ::access(until.c_str(), F_OK) == 0))
      return std::nullopt;
    Picture picture;
    picture.pixels.resize(sizes[static_cast<std::size_t>(sent) % sizes.size()]);
    std::fill_n(picture.pixels.data(), picture.pixels.size(), std::byte(sent % 200));
    sent += 1;
    return picture;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(sent);
  }
};

Picture brighter(Picture picture) {
  std::byte* const pixels = picture.pixels.data();
  for (std::size_t i = 0; i < picture.pixels.size(); ++i) {
    pixels[i] = std::byte(std::to_integer<unsigned>(pixels[i]) + 1);
  }
  return picture;
}

struct Describe {
  std::int64_t number = 0;
  std::string operator()(const Picture& picture) {
    const Bytes pixels = picture.pixels;
    const std::uint64_t sum = std::accumulate(
        pixels.begin(), pixels.end(), std::uint64_t{0},
        [](std::uint64_t all, std::byte one) { return all + std::to_integer<unsigned>(one); });
    return std::to_string(number++) + " " + std::to_string(pixels.size()) + " " +
           std::to_string(sum);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(number);
  }
};

int main(int argc, char** argv) {
  const Options options(argc, argv);
  return run(pipeline(source("camera", Camera{options.number("items", -1), options.text("until")}),
                      farm("brighter", 2, brighter), node("describe", Describe{}).ordered(),
                      sink("lines", LineSink(options.out()))));
}
