// The mean of each sensor over the last ten seconds, every five, and the readings that came too
// late for it.
//
//     17_sliding_mean READINGS
//
// Lines are "12 cellar 8.5": a second, a sensor, degrees. They may be up to three seconds out of
// order.

#include <piracema/piracema.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <sstream>
#include <string>

using namespace piracema;
using namespace std::chrono_literals;

struct Reading {
  std::int64_t second = 0;
  std::string sensor;
  double degrees = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(second, sensor, degrees);
  }
};

std::optional<Reading> parse(const std::string& line) {
  Reading reading;
  std::istringstream words(line);
  if (!(words >> reading.second >> reading.sensor >> reading.degrees)) return std::nullopt;
  return reading;
}

EventTime time_of(const Reading& reading) {
  return EventTime(std::chrono::seconds(reading.second));
}
std::string sensor_of(const Reading& reading) { return reading.sensor; }

struct Mean {
  struct Sum {
    double sum = 0;
    std::uint64_t count = 0;
  };
  void operator()(const Reading& reading, Sum& sum) const {
    sum.sum += reading.degrees;
    sum.count += 1;
  }
  void combine(const Sum& more, Sum& into) const {
    into.sum += more.sum;
    into.count += more.count;
  }
  double result(const Sum& sum) const { return sum.sum / static_cast<double>(sum.count); }
};

std::string text_of(const WindowResult<std::string, double>& window) {
  char text[128];
  std::snprintf(text, sizeof text, "%s from %3ld to %3ld: %.1f degrees", window.key.c_str(),
                window.from.time_since_epoch() / 1s, window.to.time_since_epoch() / 1s,
                window.value);
  return text;
}
std::string late_text(const Reading& reading) {
  return reading.sensor + " at " + std::to_string(reading.second) + ": too late";
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s READINGS\n", argv[0]);
    return 2;
  }
  return run(pipeline(
      source("lines", FileLines{argv[1]}), node("parse", parse), event_time("times", time_of, 3s),
      branches(pipeline(window("means", 2, sensor_of, time_of, sliding(10s, 5s), Mean{}),
                        node("text", text_of)),
               node("late", late_text)),
      sink("print", [](const std::string& line) { std::puts(line.c_str()); })));
}
