// Works on the frames of a video in four replicas, and writes them in the order in which they came.
//
//     13_frames_in_order IN OUT
//
// IN has raw frames of 64 x 48 grey pixels, as `ffmpeg -s 64x48 -pix_fmt gray -f rawvideo` makes
// them. OUT is their negative: a filter that is worth its own replicas takes its place.

#include <piracema/piracema.h>

#include <cstdio>
#include <vector>

using namespace piracema;

using Frame = std::vector<char>;
constexpr std::size_t frame_bytes = 64 * 48;

Frame negative(Frame frame) {
  for (char& pixel : frame) pixel = static_cast<char>(~pixel);
  return frame;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s IN OUT\n", argv[0]);
    return 2;
  }
  return run(pipeline(source("read", FileBlocks{argv[1], frame_bytes}),
                      farm("filter", 4, negative).ordered(),
                      sink("write", FileSink<Frame>{argv[2]})));
}
