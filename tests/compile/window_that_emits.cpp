// first error: the code of a window takes an item, of the type that `time_of` takes
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
  return run(pipeline(
      source("readings", none), event_time("times", time_of, 1s, drop_late),
      window("means", 2, value_of, time_of, tumbling(10s),
             [](const Reading& reading, Emit<std::int64_t>& emit) { emit(reading.value); }),
      sink("end", [](const std::int64_t&) {})));
}
