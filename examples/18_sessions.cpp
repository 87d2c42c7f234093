// The visits of a web site: pages that one visitor asks for belong to one visit until half an hour
// goes by without one.
//
//     18_sessions LOG
//
// Lines are "36000 ada /start": a second, a visitor, a page. They may be up to ten seconds out of
// order.

#include <piracema/piracema.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <sstream>
#include <string>

using namespace piracema;
using namespace std::chrono_literals;

struct Page {
  std::int64_t second = 0;
  std::string visitor, name;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(second, visitor, name);
  }
};

std::optional<Page> parse(const std::string& line) {
  Page page;
  std::istringstream words(line);
  if (!(words >> page.second >> page.visitor >> page.name)) return std::nullopt;
  return page;
}

EventTime time_of(const Page& page) { return EventTime(std::chrono::seconds(page.second)); }

struct Visit {
  std::int64_t from = 0, to = 0, pages = 0;
};

struct Visits {
  std::chrono::minutes state_ttl() const { return 30min; }
  EventTime event_time_of(const Page& page) const { return time_of(page); }

  void operator()(const Page& page, Visit& visit, Emit<std::string>&) const {
    if (visit.pages == 0) visit.from = visit.to = page.second;
    visit.from = std::min(visit.from, page.second);
    visit.to = std::max(visit.to, page.second);
    visit.pages += 1;
  }
  void finish(const std::string& visitor, const Visit& visit, Emit<std::string>& emit) const {
    emit(visitor + ": from " + std::to_string(visit.from) + " to " + std::to_string(visit.to) +
         ", pages: " + std::to_string(visit.pages));
  }
};

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s LOG\n", argv[0]);
    return 2;
  }
  return run(
      pipeline(source("lines", FileLines{argv[1]}), node("parse", parse),
               event_time("times", time_of, 10s, drop_late),
               farm("visits", 2, Visits{}).by_key([](const Page& page) { return page.visitor; }),
               sink("print", [](const std::string& line) { std::puts(line.c_str()); })));
}
