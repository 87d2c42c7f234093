// The operator interface of paper 000, its section 4.2: names and signatures are the paper's. A
// thermometer is read, what it says is converted by two replicas, and printed in order.

#include <piracema/operators.h>

#include <cstdio>

using namespace piracema::operators;

struct Reading {
  int minute = 0;
  int celsius = 0;
};

constexpr int minutes = 1000;

class Thermometer : public ISourceOperator {
 public:
  void onProduce() override {
    int minute = keyStore::contains("minute") ? keyStore::retrieve<int>("minute") : 0;
    for (; minute < minutes; ++minute) {
      const Reading reading{.minute = minute, .celsius = minute * 7 % 40};
      keyStore::store("minute", minute + 1);
      Emit(static_cast<std::uint64_t>(minute), serialization::serialize(reading));
    }
  }
};

class Convert : public IMiddleOperator {
 public:
  void onReceive(const Message& m) override {
    const auto reading = serialization::deserialize<Reading>(m.value);
    Emit(serialization::serialize(reading.celsius * 9 / 5 + 32));
  }
};

class Print : public ISinkOperator {
 public:
  void onReceive(const Message& m) override {
    const auto fahrenheit = serialization::deserialize<int>(m.value);
    if (m.id % 100 == 0) std::printf("%d: %d F\n", static_cast<int>(m.id), fahrenheit);
  }
};

int main(int argc, char** argv) {
  init(argc, argv);
  Thermometer thermometer;
  Convert convert;
  Print print;
  convert.setReplicate(2);
  print.setOrdered(true);
  pipeline::run(&thermometer, &convert, &print);
  finalize();
}
