// first error: a class with a MapState or a ListState names its members in a `serialize`
#include <piracema/piracema.h>

#include <cereal/types/vector.hpp>

using namespace piracema;

struct Visits {
  MapState<std::int64_t, int> pages;
};

int main() {
  return run(pipeline(source("numbers", Sequence{1, 10}),
                      sink("visit", [](const std::int64_t& n, Visits& visits) {
                        visits.pages.put(n, 1);
                      }).by_key([](const std::int64_t& n) { return n; })));
}
