// error: the code of a node takes an item, and an Emit<Out>& if it likes
#include <piracema/piracema.h>

using namespace piracema;

int main() {
  return run(pipeline(source("numbers", Sequence{1, 10}),
                      node("add", [](const std::int64_t& a, int b) { return a + b; }),
                      sink("end", [](const std::int64_t&) {})));
}
