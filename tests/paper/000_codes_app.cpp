// Codes 1 to 4 of paper 000, letter for letter (line breaks of the print are undone), given what a
// user brings: Event, consumeEvent, compute and print_output.
#include <piracema/operators.h>
#include <unistd.h>

#include <cstdio>

using namespace piracema::operators;

struct Event {
  int id = 0;
  int value = 0;
};

// The source of Code 2 never ends; this is how it looks when no event comes any more.
Event consumeEvent() {
  static int next = 0;
  if (next == 1'000) {
    while (true) ::pause();
  }
  const int id = next++;
  return {id, 3 * id};
}

int compute(const Event& e) { return e.value + 1; }

void print_output(std::uint64_t id, int value) {
  std::printf("%d %d\n", static_cast<int>(id), value);
  std::fflush(stdout);
}

// clang-format off

// Code 2: the source.
class Source : public ISourceOperator
{
    public:
        void onProduce() {
            while(true) {
                Event e = consumeEvent();
                Emit(e.id,
                     serialization::serialize(e));
            }
        }
};

// Code 3: the operator in the middle.
class Middle : public IMiddleOperator
{
    public:
        void onReceive(const Message &m) {
            Event e = serialization::deserialize<Event>(m.value);
            int out = compute(e);
            Emit(serialization::serialize(out));
        }
};

// Code 4: the sink.
class Sink : public ISinkOperator
{
    public:
        void onReceive(const Message &m) {
            int val = serialization::deserialize<int>(m.value);
            print_output(m.id, val);
        }
};

// Code 1: main.
int main(int argc, char **argv)
{
    init(argc, argv);
    Source src;
    Middle mdl;
    Sink snk;
    mdl.setReplicate(2);
    snk.setOrdered(true);
    pipeline::run(&src, &mdl, &snk);
    finalize();
}
