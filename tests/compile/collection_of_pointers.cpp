// first error: a pointer means nothing in another process: send a value
#include <piracema/piracema.h>

#include <cereal/types/vector.hpp>

using namespace piracema;

int main() {
  return run(pipeline(source("numbers", Sequence{1, 10}),
                      sink("visit", [](const std::int64_t&, MapState<const char*, int>&) {
                      }).by_key([](const std::int64_t& n) { return n; })));
}
