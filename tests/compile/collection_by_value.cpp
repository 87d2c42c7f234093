// first error: the code of a node takes an item
#include <piracema/piracema.h>

#include <cereal/types/vector.hpp>

using namespace piracema;

int main() {
  return run(pipeline(source("numbers", Sequence{1, 10}),
                      sink("visit", [](const std::int64_t&, MapState<std::int64_t, int>) {
                      }).by_key([](const std::int64_t& n) { return n; })));
}
