// first error: windows that overlap share what they gather
#include <piracema/piracema.h>

using namespace piracema;
using namespace std::chrono_literals;

struct Reading {
  std::int64_t ms = 0, value = 0;
};
std::optional<Reading> none() { return std::nullopt; }
std::int64_t value_of(const Reading& reading) { return reading.value; }

EventTime time_of(const Reading& reading) {
  return EventTime(std::chrono::milliseconds(reading.ms));
}

int main() {
  return run(pipeline(source("readings", none), event_time("times", time_of, 1s, drop_late),
                      window("means", 2, value_of, time_of, sliding(10s, 1s),
                             [](const Reading&, std::int64_t& count) { count += 1; }),
                      sink("end", [](const WindowResult<std::int64_t, std::int64_t>&) {})));
}
