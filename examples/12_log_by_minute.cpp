// Sums up the log of a web server by page and minute: requests, errors, and the slowest one. A
// minute is said as soon as it is over in the log.
//
//     12_log_by_minute LOG
//
// Lines are "2026-11-23T10:00:07 GET /basket 200 12": when, what, the status, and milliseconds.
// They may be up to ten seconds out of order.

#include <piracema/piracema.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <iomanip>
#include <optional>
#include <sstream>
#include <string>

using namespace piracema;
using namespace std::chrono_literals;

struct Request {
  std::int64_t second = 0;  // Since 1970.
  std::string page;
  std::int64_t status = 0, ms = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(second, page, status, ms);
  }
};

// What is no line of such a log is left out.
std::optional<Request> parse(const std::string& line) {
  std::istringstream words(line);
  std::tm when{};
  std::string method;
  Request request;
  words >> std::get_time(&when, "%Y-%m-%dT%H:%M:%S") >> method >> request.page >> request.status >>
      request.ms;
  if (!words) return std::nullopt;
  request.second = ::timegm(&when);
  return request;
}

EventTime time_of(const Request& request) {
  return EventTime(std::chrono::seconds(request.second));
}
std::string page_of(const Request& request) { return request.page; }

struct Sums {
  std::int64_t requests = 0, errors = 0, slowest_ms = 0;
};

void sum_up(const Request& request, Sums& sums) {
  sums.requests += 1;
  sums.errors += request.status >= 500;
  sums.slowest_ms = std::max(sums.slowest_ms, request.ms);
}

void print(const WindowResult<std::string, Sums>& minute) {
  const std::time_t from = std::chrono::system_clock::to_time_t(minute.from);
  char name[32];
  std::strftime(name, sizeof name, "%Y-%m-%dT%H:%M", std::gmtime(&from));
  std::printf("%s %s requests %ld errors %ld slowest %ld ms\n", name, minute.key.c_str(),
              minute.value.requests, minute.value.errors, minute.value.slowest_ms);
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s LOG\n", argv[0]);
    return 2;
  }
  return run(pipeline(source("lines", FileLines{argv[1]}), farm("parse", 2, parse),
                      event_time("times", time_of, 10s, drop_late).ordered(),
                      window("minutes", 2, page_of, time_of, tumbling(1min), sum_up),
                      sink("print", print)));
}
