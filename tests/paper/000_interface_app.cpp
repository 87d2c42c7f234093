// What paper 000, section 4, gives its users, in one program: stations send readings, whose mean
// with the one before is taken for each station, and printed in the order in which they came.
//
//     interface_app
//
// Like the paper's, the source never ends: behind 1,000 readings it waits for more.
#include <piracema/operators.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

using namespace piracema::operators;

struct Reading {
  int station = 0;
  int value = 0;
};
// With a std::string it is serialized by cereal, the others as they lie in memory.
struct Report {
  std::string station;
  int twice_the_mean = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(station, twice_the_mean);
  }
};

class Stations : public ISourceOperator {
 public:
  void onProduce() override {
    auto next = keyStore::contains("next") ? keyStore::retrieve<std::uint64_t>("next") : 0;
    for (; next < 1'000; ++next) {
      const int number = static_cast<int>(next);
      const Reading reading{.station = number % 4, .value = 37 * number % 101};
      keyStore::store("next", next + 1);
      Emit(next, serialization::serialize(reading),
           reading.station);  // Affinity: one way a station.
    }
    while (true) ::pause();
  }
};

class Means : public IMiddleOperator {
 public:
  void onReceive(const Message& message) override {
    const auto reading = serialization::deserialize<Reading>(message.value);
    const std::string key = "station " + std::to_string(reading.station);
    const int before = keyStore::contains(key) ? keyStore::retrieve<int>(key) : reading.value;
    keyStore::store(key, reading.value);
    Emit(serialization::serialize(Report{key, before + reading.value}));
  }
};

class Lines : public IMiddleOperator {
 public:
  void onReceive(const Message& message) override {
    const auto report = serialization::deserialize<Report>(message.value);
    // Each knows where it is, and what it is a part of.
    const utility::Node node = utility::getNode();
    const auto plan = utility::getExecutionPlan();
    if (node.stage != "lines" || node.rank != utility::getRank() || plan.stages.size() != 4 ||
        utility::getCommunicatorSize() != 7 || node.processor != utility::getProcessorName()) {
      throw std::logic_error("it is not where it should be");
    }
    Emit(report.station + ": " + std::to_string(report.twice_the_mean));
  }
};

class Print : public ISinkOperator {
 public:
  void onReceive(const Message& message) override {
    std::printf("%d %s\n", static_cast<int>(message.id), message.value.c_str());
    std::fflush(stdout);
  }
};

int main(int argc, char** argv) {
  init(argc, argv);
  Stations stations;
  Means means;
  Lines lines;
  Print print;
  means.setDelivery(piracema::Delivery::round_robin);
  means.setReplicate(2);
  lines.setName("lines");
  lines.setReplicate(3);
  print.setOrdered(true);
  const std::vector<IMiddleOperator*> middle{&means, &lines};
  pipeline::run(&stations, middle, &print);
  finalize();
}
