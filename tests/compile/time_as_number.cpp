// first error: what reads the time of an item takes the item and returns an EventTime
#include <piracema/piracema.h>

#include "readings.h"

using namespace piracema;
using namespace std::chrono_literals;

std::int64_t ms_of(const Reading& reading) { return reading.ms; }

int main() {
  return run(pipeline(source("readings", none), event_time("times", ms_of, 1s, drop_late),
                      sink("end", [](const Reading&) {})));
}
