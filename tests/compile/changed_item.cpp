// error: takes its item by `const In&` or `In`, not by `In&`
// names: Point
#include <piracema/piracema.h>

using namespace piracema;

struct Point {
  int x, y;
};

int main() {
  return run(pipeline(source("in", [] { return std::optional<Point>(); }),
                      node("move", [](Point& p) { return p; }), sink("out", [](const Point&) {})));
}
