// Finds faces and eyes in a video with the operator interface of paper 000 (its section 5).
//
//     eyes_operators WORKERS VIDEO OUT
//     piracema run -n 4 eyes_operators WORKERS VIDEO OUT     or mpirun -n 4 …
//
// OUT is replaced; it gets a line for each frame.
#include <piracema/operators.h>

#include <cereal/types/vector.hpp>
#include <cstdio>
#include <cstdlib>

#include "../common/placed_output.h"
#include "../common/times.h"
#include "eyes.h"

using namespace piracema::operators;

class Read : public ISourceOperator {
 public:
  explicit Read(std::string path) : path_(std::move(path)) {}

  // Each message is a frame; the last one is empty, and says that there are no more.
  void onProduce() override {
    auto given = keyStore::contains("given") ? keyStore::retrieve<std::uint64_t>("given") : 0;
    if (keyStore::contains("is over")) return;
    if (given == 0) apps::started();
    apps::Video video(path_, given);
    while (const auto frame = video.next()) {
      keyStore::store("given", given + 1);
      Emit(given++, serialization::serialize(*frame));
    }
    keyStore::store("is over", true);
    Emit(given, "");
  }

 private:
  std::string path_;
};

class Find : public IMiddleOperator {
 public:
  void onReceive(const Message& m) override {
    const bool is_end = m.value.empty();
    Emit(is_end ? "" : detector_.find(serialization::deserialize<apps::Frame>(m.value)) + '\n');
  }

 private:
  apps::EyeDetector detector_;
};

class Write : public ISinkOperator {
 public:
  explicit Write(std::string path) : out_(std::move(path)) {}

  void onReceive(const Message& line) override {
    const auto length =
        keyStore::contains("length") ? keyStore::retrieve<std::uint64_t>("length") : 0;
    out_.write_at(length, line.value);
    keyStore::store("length", length + line.value.size());
    if (line.value.empty()) apps::ended(line.id);
  }

 private:
  apps::PlacedOutput out_;
};

int main(int argc, char** argv) {
  init(argc, argv);
  const int workers = argc == 4 ? std::atoi(argv[1]) : 0;
  if (workers < 1) {
    if (utility::getRank() == 0) std::fprintf(stderr, "usage: eyes_operators WORKERS VIDEO OUT\n");
    return 2;
  }
  Read read(argv[2]);
  Find find;
  Write write(argv[3]);
  find.setReplicate(workers);
  write.setOrdered(true);
  pipeline::run(&read, &find, &write);
  finalize();
}
