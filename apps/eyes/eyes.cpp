// Finds faces and eyes in a video (paper 000, section 5), a line for each frame.
//
//     eyes_app WORKERS VIDEO OUT
//     piracema run -n 4 eyes_app WORKERS VIDEO OUT
#include "eyes.h"

#include <piracema/piracema.h>

#include <cereal/types/vector.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "../common/times.h"

using namespace piracema;

struct Frames {
  std::string path;
  std::uint64_t given = 0;
  std::shared_ptr<apps::Video> video;

  void start(const Context&) {
    video = std::make_shared<apps::Video>(path, given);
    apps::started();
  }
  std::optional<apps::Frame> operator()() {
    auto frame = video->next();
    if (frame) given += 1;
    return frame;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(given);
  }
};

struct Find {
  // What it reads of the cascades is no state; each replica has its own.
  std::shared_ptr<apps::EyeDetector> detector;

  void start(const Context&) { detector = std::make_shared<apps::EyeDetector>(); }
  std::string operator()(const apps::Frame& frame) { return detector->find(frame); }
  template <class Archive>
  void serialize(Archive&) {}
};

struct Write : LineSink {
  using LineSink::LineSink;
  std::uint64_t frames = 0;

  void operator()(const std::string& line) {
    LineSink::operator()(line);
    frames += 1;
  }
  void finish() {
    LineSink::finish();
    apps::ended(frames);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    LineSink::serialize(archive);
    archive(frames);
  }
};

int main(int argc, char** argv) {
  const int workers = argc == 4 ? std::atoi(argv[1]) : 0;
  if (workers < 1) {
    std::fprintf(stderr, "usage: eyes_app WORKERS VIDEO OUT\n");
    return 2;
  }
  return run(pipeline(source("read", Frames{.path = argv[2]}),
                      farm("find", static_cast<std::uint32_t>(workers), Find{}).ordered(),
                      sink("write", Write(argv[3]))));
}
