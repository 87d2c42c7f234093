// first error: windows that overlap share what they gather
#include <piracema/piracema.h>

#include "readings.h"

using namespace piracema;
using namespace std::chrono_literals;

int main() {
  return run(pipeline(source("readings", none), event_time("times", time_of, 1s, drop_late),
                      window("means", 2, value_of, time_of, sliding(10s, 1s),
                             [](const Reading&, std::int64_t& count) { count += 1; }),
                      sink("end", [](const WindowResult<std::int64_t, std::int64_t>&) {})));
}
