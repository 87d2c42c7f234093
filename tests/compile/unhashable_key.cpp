// error: a key is hashed by std::hash: give a number or a string, or specialise std::hash
// names: Point
#include <piracema/piracema.h>

using namespace piracema;

struct Point {
  int x, y;
};

int main() {
  return run(pipeline(source("in", [] { return std::optional<Point>(); }),
                      farm("move", 2, [](const Point& p) { return p; }).by_key([](const Point& p) {
                        return p;
                      }),
                      sink("out", [](const Point&) {})));
}
