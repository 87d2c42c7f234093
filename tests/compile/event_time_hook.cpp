// first error: on_event_time takes an EventTime, and the Emit<Out>& that the code is called with
#include <piracema/piracema.h>

#include "readings.h"

using namespace piracema;
using namespace std::chrono_literals;

struct Watch {
  void operator()(const Reading& reading, Emit<Reading>& emit) { emit(reading); }
  void on_event_time(std::int64_t, Emit<Reading>&) {}
};

int main() {
  return run(pipeline(source("readings", none), node("watch", Watch{}),
                      sink("end", [](const Reading&) {})));
}
