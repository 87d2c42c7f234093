// error: the code of a block is copied for each replica and after each failure
// names: Move
#include <piracema/piracema.h>

#include <memory>

using namespace piracema;

struct Move {
  std::unique_ptr<int> by;
  int operator()(const int& n) { return n; }
};

int main() {
  return run(pipeline(source("in", [] { return std::optional<int>(); }), node("move", Move{}),
                      sink("out", [](const int&) {})));
}
