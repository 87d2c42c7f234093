// The operator interface of paper 000: its Codes 1 to 4, letter for letter, around four functions
// of a user.

#include <piracema/operators.h>

#include <cstdio>

using namespace piracema::operators;

struct Event {
  int id = 0;
  int value = 0;
};

constexpr int events = 1000;

// Where the events come from: their position is the source's state.
Event readEvent(int position) { return {position, position * 3}; }
int compute(const Event& e) { return e.value + 1; }
void print_output(std::uint64_t id, int value) {
  if (id % 100 == 0) std::printf("%d: %d\n", static_cast<int>(id), value);
}

class Source : public ISourceOperator {
 public:
  void onProduce() override {
    int position = keyStore::contains("position") ? keyStore::retrieve<int>("position") : 0;
    for (; position < events; ++position) {
      Event e = readEvent(position);
      keyStore::store("position", position + 1);
      Emit(static_cast<std::uint64_t>(e.id), serialization::serialize(e));
    }
  }
};

class Middle : public IMiddleOperator {
 public:
  void onReceive(const Message& m) override {
    Event e = serialization::deserialize<Event>(m.value);
    int out = compute(e);
    Emit(serialization::serialize(out));
  }
};

class Sink : public ISinkOperator {
 public:
  void onReceive(const Message& m) override {
    int val = serialization::deserialize<int>(m.value);
    print_output(m.id, val);
  }
};

int main(int argc, char** argv) {
  init(argc, argv);
  Source src;
  Middle mdl;
  Sink snk;
  mdl.setReplicate(2);
  snk.setOrdered(true);
  pipeline::run(&src, &mdl, &snk);
  finalize();
}
