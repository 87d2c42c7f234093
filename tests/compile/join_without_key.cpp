// error: a node or sink with a state for each key says what the key is: .by_key(key_of)
#include <piracema/piracema.h>

using namespace piracema;

struct Match {
  void left(const int&, int& state, Emit<int>&) { state += 1; }
  void right(const long&, int& state, Emit<int>&) { state += 1; }
};

int main() {
  return run(pipeline(both(source("a", [] { return std::optional<int>(); }),
                           source("b", [] { return std::optional<long>(); })),
                      join("match", 2, Match{}), sink("drop", [](const int&) {})));
}
