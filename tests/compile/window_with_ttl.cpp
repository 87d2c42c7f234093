// first error: the code of a window has no state_ttl()
#include <piracema/piracema.h>

#include "readings.h"

using namespace piracema;
using namespace std::chrono_literals;

struct Count {
  void operator()(const Reading&, std::int64_t& count) const { count += 1; }
  std::chrono::seconds state_ttl() const { return 1min; }
};

int main() {
  return run(pipeline(source("readings", none), event_time("times", time_of, 1s, drop_late),
                      window("counts", 2, value_of, time_of, tumbling(10s), Count{}),
                      sink("end", [](const WindowResult<std::int64_t, std::int64_t>&) {})));
}
