// error: a node or sink with a state for each key says what the key is: .by_key(key_of)
#include <piracema/piracema.h>

using namespace piracema;

int main() {
  return run(
      pipeline(source("numbers", Sequence{1, 10}),
               farm("count", 2, [](const std::int64_t&, std::int64_t& count) { return ++count; }),
               sink("end", [](const std::int64_t&) {})));
}
