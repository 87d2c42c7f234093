// The operator interface with state in the keyStore, in a source, and in a sink that writes what
// it knows where its state says.
//
//     operators_app OUT [items=N] [until=FILE] [emit-first] [sources=N] [sinks=N] [affinity]
//                   [broadcast] [round-robin] [vector=N] [pause_us=T] [wait=FIFO]
//                   [read=FIFO]
//
// Each source emits `items` messages, or until FILE exists, and writes their number to
// OUT.source.REPLICA; before its end it waits until somebody opens FIFO, or writes to the one that
// it reads. Every sink writes OUT.REPLICA: "ID VALUE RANK,RANK…", with the ranks of the operators
// on the way.
#include <fcntl.h>
#include <piracema/operators.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "options.h"

using namespace piracema::operators;

struct Event {
  std::int64_t value = 0;
  std::string way;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(value, way);
  }
};

std::string here() { return std::to_string(utility::getNode().replica); }

class Source : public ISourceOperator {
 public:
  explicit Source(Options options) : options_(std::move(options)) {}

  void onProduce() override {
    const int replica = utility::getNode().replica;
    const auto items = options_.number("items", 1'000);
    auto next = begin();
    for (; next < items && !is_enough(); ++next) {
      std::this_thread::sleep_for(std::chrono::microseconds(options_.number("pause_us", 0)));
      const auto id = static_cast<std::uint64_t>(replica * 1'000'000 + next);
      if (!options_.has("emit-first")) keyStore::store("next", next + 1);
      send(id, {next, here()});
      if (options_.has("emit-first")) keyStore::store("next", next + 1);
    }
    std::ofstream(options_.out() + ".source." + std::to_string(replica)) << next;
    if (options_.has("read")) {
      const int fd = ::open(options_.text("read").c_str(), O_RDWR | O_CLOEXEC);
      std::FILE* const in = ::fdopen(fd, "r");
      if (in == nullptr || std::fgetc(in) == EOF) std::abort();
      std::fclose(in);
    }
    if (options_.has("wait")) ::close(::open(options_.text("wait").c_str(), O_RDONLY | O_CLOEXEC));
  }

 private:
  std::int64_t begin() const {
    return keyStore::contains("next") ? keyStore::retrieve<std::int64_t>("next") : 0;
  }
  bool is_enough() const {
    return options_.has("until") && ::access(options_.text("until").c_str(), F_OK) == 0;
  }
  void send(std::uint64_t id, const Event& event) {
    if (options_.has("affinity")) {
      Emit(id, serialization::serialize(event), event.value % 10);
    } else {
      Emit(id, serialization::serialize(event));
    }
  }

  Options options_;
};

class Middle : public IMiddleOperator {
 public:
  explicit Middle(Options options) : options_(std::move(options)) {}

  void onReceive(const Message& m) override {
    Event event = serialization::deserialize<Event>(m.value);
    event.way += "," + here();
    if (options_.has("affinity")) {
      Emit(serialization::serialize(event), event.value % 10);
    } else {
      Emit(serialization::serialize(event));
    }
  }

 private:
  Options options_;
};

// Its file is what its state says: after a return to a snapshot all later lines are cut off with
// the next one that comes.
class Sink : public ISinkOperator {
 public:
  explicit Sink(Options options) : options_(std::move(options)) {}

  void onReceive(const Message& m) override {
    const Event event = serialization::deserialize<Event>(m.value);
    write(std::to_string(m.id) + " " + std::to_string(event.value) + " " + event.way + "," +
          here() + "\n");
  }

 private:
  void write(const std::string& line) {
    const auto at = keyStore::contains("length") ? keyStore::retrieve<std::int64_t>("length") : 0;
    const auto length = at + static_cast<std::int64_t>(line.size());
    const int fd =
        ::open((options_.out() + "." + here()).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const bool written =
        ::pwrite(fd, line.data(), line.size(), at) == static_cast<ssize_t>(line.size());
    const bool cut = ::ftruncate(fd, length) == 0;
    ::close(fd);
    if (!written || !cut) throw std::runtime_error("cannot write " + options_.out());
    keyStore::store("length", length);
  }

  Options options_;
};

int main(int argc, char** argv) {
  init(argc, argv);
  const Options options(argc, argv);
  Source source(options);
  Sink sink(options);
  source.setReplicate(static_cast<int>(options.number("sources", 1)));
  sink.setReplicate(static_cast<int>(options.number("sinks", 1)));

  std::vector<std::unique_ptr<Middle>> owned;
  std::vector<IMiddleOperator*> middle;
  for (std::int64_t i = 0; i < options.number("vector", 1); ++i) {
    owned.push_back(std::make_unique<Middle>(options));
    middle.push_back(owned.back().get());
    middle.back()->setReplicate(2);
  }
  if (options.has("broadcast")) middle.back()->setDelivery(piracema::Delivery::broadcast);
  if (options.has("round-robin")) middle.back()->setDelivery(piracema::Delivery::round_robin);
  if (options.has("vector")) {
    pipeline::run(&source, middle, &sink);
  } else {
    owned.front()->setReplicate(2);
    pipeline::run(&source, owned.front().get(), &sink);
  }
  finalize();
}
