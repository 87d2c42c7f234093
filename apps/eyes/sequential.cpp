// Finds faces and eyes in a video in the simplest way: what the others are held to.
//
//     eyes_sequential VIDEO
#include <cstdio>

#include "eyes.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: eyes_sequential VIDEO\n");
    return 2;
  }
  try {
    apps::Video video(argv[1]);
    apps::EyeDetector detector;
    while (const auto frame = video.next()) std::puts(detector.find(*frame).c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "eyes_sequential: %s\n", error.what());
    return 1;
  }
  return 0;
}
