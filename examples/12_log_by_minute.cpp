// Sums up the log of a web server by minute: requests, errors, and the slowest one.
//
//     12_log_by_minute LOG
//
// Lines are "2026-11-23T10:00:07 GET /basket 200 12": when, what, the status, and milliseconds.

#include <piracema/piracema.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <sstream>
#include <string>

using namespace piracema;

struct Request {
  std::string minute;
  std::int64_t status = 0, ms = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(minute, status, ms);
  }
};

// What is no line of such a log is left out.
std::optional<Request> parse(const std::string& line) {
  std::istringstream words(line);
  std::string when, method, path;
  Request request;
  if (!(words >> when >> method >> path >> request.status >> request.ms)) return std::nullopt;
  request.minute = when.substr(0, std::string("2026-11-23T10:00").size());
  return request;
}

struct Minute {
  std::int64_t requests = 0, errors = 0, slowest_ms = 0;
};

struct SumUp {
  void operator()(const Request& request, Minute& minute, Emit<std::string>&) {
    minute.requests += 1;
    minute.errors += request.status >= 500;
    minute.slowest_ms = std::max(minute.slowest_ms, request.ms);
  }
  void finish(const std::string& name, Minute& minute, Emit<std::string>& emit) {
    emit(name + " requests " + std::to_string(minute.requests) + " errors " +
         std::to_string(minute.errors) + " slowest " + std::to_string(minute.slowest_ms) + " ms");
  }
};

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s LOG\n", argv[0]);
    return 2;
  }
  return run(pipeline(
      source("lines", FileLines{argv[1]}), farm("parse", 2, parse),
      farm("minutes", 2, SumUp{}).by_key([](const Request& request) { return request.minute; }),
      sink("print", [](const std::string& line) { std::puts(line.c_str()); })));
}
