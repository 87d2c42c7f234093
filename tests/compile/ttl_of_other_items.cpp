// error: event_time_of is for a time to live: it takes what the code takes
#include <piracema/piracema.h>

#include "readings.h"

using namespace piracema;

struct Count {
  std::chrono::hours state_ttl() const { return std::chrono::hours(1); }
  EventTime event_time_of(const std::string&) const { return {}; }
  std::int64_t operator()(const Reading&, std::int64_t& count) { return ++count; }
};

int main() {
  return run(pipeline(source("readings", none),
                      farm("count", 2, Count{}).by_key([](const Reading&) { return 1; }),
                      sink("end", [](const std::int64_t&) {})));
}
