#include "flow/event_times.h"

#include <doctest/doctest.h>
#include <piracema/window.h>

#include <string>
#include <vector>

#include "base/engine.h"

using namespace piracema;
using std::chrono::seconds;

namespace {

struct Event {
  std::int64_t second = 0;
};
EventTime time_of_event(const Event& event) { return EventTime(seconds(event.second)); }
std::int64_t parity_of(const Event& event) { return event.second % 2; }
std::optional<Event> no_events() { return std::nullopt; }
Event same_event(const Event& event) { return event; }
void drop_event(const Event&) {}

auto times() { return event_time("times", time_of_event, seconds(1), drop_late); }
auto windows() {
  return window("windows", 2, parity_of, time_of_event, tumbling(seconds(10)),
                [](const Event&, std::uint64_t& count) { count += 1; });
}
auto end() {
  return sink("end", [](const WindowResult<std::int64_t, std::uint64_t>&) {});
}

std::string why_no_event_time(const Graph& graph) {
  const auto valid = validate(graph.shape);
  return valid ? "" : valid.error().message;
}
bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

struct RoundOfEvents {
  void operator()(const Event& event, Emit<Event>& out, Emit<Event>&) { out(event); }
  void back(const Event&, Emit<Event>&, Emit<Event>&) {}
};

}  // namespace

TEST_CASE("a window behind event time is fine, with farms between as well") {
  CHECK(why_no_event_time(pipeline(source("s", no_events), times(), windows(), end())) == "");
  CHECK(why_no_event_time(pipeline(combine(source("s", no_events).replicas(3), times().replicas(3)),
                                   farm("work", 4, same_event), windows(), end())) == "");
}

TEST_CASE("a window without event time is refused, by name of who gives none") {
  const auto why = why_no_event_time(pipeline(source("s", no_events), windows(), end()));
  CHECK(says(why, "'windows' needs event time, and what comes to it from 's' has none"));
  const auto both_ways = why_no_event_time(pipeline(
      set(pipeline(source("with", no_events), times(), node("a", same_event)),
          pipeline(source("without", no_events), node("b", same_event), node("c", same_event))),
      windows(), end()));
  CHECK(says(both_ways, "from 'c' has none"));
}

TEST_CASE("there is no event time behind a cycle, but a node that gives it anew") {
  const auto round = [] { return loop(node("round", RoundOfEvents{})); };
  CHECK(
      says(why_no_event_time(pipeline(source("s", no_events), times(), round(), windows(), end())),
           "from 'round' has none"));
  CHECK(why_no_event_time(pipeline(source("s", no_events), round(), times(), windows(), end())) ==
        "");
}

TEST_CASE("replicas that any item may reach give no event time, as it would be another each time") {
  const auto why =
      why_no_event_time(pipeline(source("s", no_events), times().replicas(2), windows(), end()));
  CHECK(says(why, "'times' gives event time with 2 replicas"));
  CHECK(why_no_event_time(pipeline(source("s", no_events).replicas(2),
                                   times().replicas(2).one_to_one(), windows(), end())) == "");
}

TEST_CASE("event time that is given in the middle of an order is refused") {
  const auto program = [](auto giver) {
    return pipeline(source("s", no_events), farm("work", 3, same_event), std::move(giver),
                    farm("more", 3, same_event).ordered(), sink("end", drop_event));
  };
  CHECK(says(why_no_event_time(program(times())), "'end' puts their items back in order"));
  CHECK(why_no_event_time(program(times().ordered())) == "");
  CHECK(why_no_event_time(pipeline(source("s", no_events), node("one", same_event), times(),
                                   farm("more", 3, same_event).ordered(),
                                   sink("end", drop_event))) == "");
}

TEST_CASE("late items leave by an output of their own, or are counted") {
  const Graph graph =
      pipeline(source("s", no_events), event_time("times", time_of_event, seconds(1)),
               branches(pipeline(windows(), end()), sink("late", drop_event)));
  CHECK(why_no_event_time(graph) == "");
  const auto give = times().parts.graph.code[0]();
  CHECK(give->gives_event_time());
  CHECK(give->items_late() == 0);
}
