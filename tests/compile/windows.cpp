// Windows and event time, in all the forms that there are.
#include <piracema/piracema.h>

#include "readings.h"

using namespace piracema;
using namespace std::chrono_literals;

struct Mean {
  struct Sum {
    std::int64_t sum = 0, count = 0;
  };
  void operator()(const Reading& reading, Sum& sum) const {
    sum.sum += reading.value;
    sum.count += 1;
  }
  void combine(const Sum& more, Sum& into) const {
    into.sum += more.sum;
    into.count += more.count;
  }
  double result(const Sum& sum) const {
    return static_cast<double>(sum.sum) / static_cast<double>(sum.count);
  }
};
using Window = WindowResult<std::int64_t, double>;

// A source that knows how far it is.
struct Clock {
  std::optional<Reading> operator()() { return std::nullopt; }
  EventTime event_time() const { return EventTime(1s); }
};

// Its own use of event time.
struct Watch {
  void operator()(const Window& window, Emit<Window>& emit) { emit(window); }
  void on_event_time(EventTime, Emit<Window>&) {}
};

int main() {
  return run(pipeline(
      source("clock", Clock{}), window("means", 2, value_of, time_of, sliding(10s, 1s), Mean{}),
      node("watch", Watch{}),
      window(
          "longer", 2, [](const Window& window) { return window.key; },
          [](const Window& window) { return window.time(); }, tumbling(60s),
          [](const Window& window, double& most) { most = std::max(most, window.value); }),
      sink("end", [](const Window&) {})));
}
