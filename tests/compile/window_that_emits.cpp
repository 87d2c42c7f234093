// first error: the code of a window takes an item, of the type that `time_of` takes
#include <piracema/piracema.h>

#include "readings.h"

using namespace piracema;
using namespace std::chrono_literals;

int main() {
  return run(pipeline(
      source("readings", none), event_time("times", time_of, 1s, drop_late),
      window("means", 2, value_of, time_of, tumbling(10s),
             [](const Reading& reading, Emit<std::int64_t>& emit) { emit(reading.value); }),
      sink("end", [](const std::int64_t&) {})));
}
