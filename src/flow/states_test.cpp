#include "flow/states.h"

#include <doctest/doctest.h>
#include <piracema/blocks.h>
#include <piracema/event_time.h>
#include <piracema/window.h>

#include <cereal/types/map.hpp>
#include <map>

#include "flow/graph_testing.h"

using namespace piracema;
using flow::testing::drop;
using flow::testing::none;
using flow::testing::Number;
using flow::testing::same;
using Layouts = std::vector<std::string>;

namespace {

template <class Value>
struct Count {
  std::map<std::string, Value> of;
  Number all = 0;
  Number operator()(const Number& n) { return all += n; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(of, all);
  }
};
struct Sizes {
  std::map<std::string, std::string> of;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(of, of, of, of, of, of, of, of, of, of);
  }
};
struct Large {
  Sizes a;
  Number operator()(const Number& n) { return n; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(a, a, a, a, cereal::make_nvp("\xff\n", last));
  }
  int last = 0;
};
struct Reader {
  std::optional<Number> operator()() { return std::nullopt; }
  Number position() const { return 0; }
  void seek(Number) {}
};
struct Throws {
  Throws() = default;
  Throws(const Throws&) {}
  Number operator()(const Number& n) { return n; }
  bool begun = false;
};

struct First {
  using Before = std::uint32_t;
  std::string text;
  First() = default;
  explicit First(std::uint32_t before) : text(std::to_string(before)) {}
  template <class Archive>
  void serialize(Archive& archive) {
    archive(text);
  }
};
struct Third {
  using Before = First;
  std::uint64_t count = 0, length = 0;
  Third() = default;
  explicit Third(const First& before) : length(before.text.size()) {}
  template <class Archive>
  void serialize(Archive& archive) {
    archive(count, length);
  }
};

EventTime second_of(const Number& n) { return EventTime(std::chrono::seconds(n)); }
struct UntilLate {
  std::chrono::seconds state_ttl() const { return std::chrono::seconds(1); }
  EventTime event_time_of(const Number& n) const { return second_of(n); }
  Number operator()(const Number& n, Third&) const { return n; }
};
struct UntilIdle {
  std::chrono::seconds state_ttl() const { return std::chrono::seconds(1); }
  Number operator()(const Number& n, Third&) const { return n; }
};

struct Gather {
  void operator()(const Number&, Third& all) const { all.count += 1; }
  Number result(const Third& all) const { return static_cast<Number>(all.count); }
  void combine(const Third&, Third&) const {}
};

struct Again {
  std::string of;
  void operator()(const Number& n, Emit<Number>& out, Emit<Number>&) { out(n); }
  void back(const Number& n, Emit<Number>& out, Emit<Number>&) { out(n); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(of);
  }
};

}  // namespace

TEST_CASE("the states of a program are told node by node, also where two were made one") {
  const Graph graph = pipeline(source("read", Reader{}), node("count", Count<int>{}),
                               node("same", same), sink("drop", drop));
  CHECK(flow::state_types_of(graph).layouts ==
        Layouts{"i64", "{map(string, i32), i64}", "nothing", "nothing"});
  const auto fused = fuse(graph, true);
  REQUIRE(fused);
  CHECK(flow::state_types_of(*fused).layouts ==
        Layouts{"i64 + {map(string, i32), i64} + nothing + nothing"});
}

TEST_CASE("where a cycle leads back a snapshot holds items, and they are told as well") {
  const Graph graph =
      pipeline(source("read", none), master_worker(node("again", Again{}), node("work", same)),
               sink("drop", drop));
  CHECK(flow::state_types_of(graph).layouts ==
        Layouts{"nothing", "{string}, items i64", "nothing", "nothing"});
}

TEST_CASE("a layout is bounded and printable, and still another one for another type") {
  const Graph graph = pipeline(source("read", none), node("large", Large{}), sink("drop", drop));
  const std::string layout = flow::state_types_of(graph).layouts[1];
  CHECK(layout.size() == flow::layout_bytes_max);
  CHECK(layout.find("... #") != std::string::npos);
  CHECK(flow::check_types(graph.shape, flow::state_types_of(graph)).ok());
  CHECK(flow::check_types(graph.shape, {}).ok());
  CHECK_FALSE(flow::check_types(graph.shape, {{"i64"}}).ok());
  CHECK_FALSE(flow::check_types(graph.shape, {{"", "\n", ""}}).ok());
  CHECK_FALSE(flow::check_types(graph.shape, {{"", std::string(513, 'x'), ""}}).ok());
}

TEST_CASE("code without anything to call knows nothing of its state") {
  Graph graph = pipeline(source("read", none), node("x", Throws{}), sink("drop", drop));
  graph.code[0] = nullptr;
  graph.code[1] = []() -> std::unique_ptr<Operator> { throw std::runtime_error("no"); };
  CHECK(flow::state_types_of(graph).layouts == Layouts{"", "", "nothing"});
}

namespace {

class Hidden {
 public:
  Number operator()(const Number& n) { return all_ += n; }

 private:
  template <class Archive>
  void serialize(Archive& archive) {
    archive(all_);
  }
  Number all_ = 0;
};
struct Constant {
  Number factor = 2;
  Number operator()(const Number& n) const { return factor * n; }
  template <class Archive>
  void serialize(Archive&) {}
};
class HiddenSource {
 public:
  std::optional<Number> operator()() { return std::nullopt; }

 private:
  template <class Archive>
  void serialize(Archive& archive) {
    archive(sent_);
  }
  Number sent_ = 0;
};
struct Write {
  Number all = 0;
  void operator()(const Number& n) { all += n; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(all);
  }
};

std::string only(const Graph& graph) {
  const auto all = flow::unsaved_states(graph.shape);
  REQUIRE(all.size() == 1);
  return all[0];
}
template <class Block>
Graph around(Block block) {
  return pipeline(source("read", none), std::move(block), sink("drop", drop));
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("what a node remembers and no snapshot has is said, with its name and why") {
  Number count = 0;
  const auto by_reference = only(around(node("a", [&count](const Number&) { return ++count; })));
  CHECK(has(by_reference, "operator 'a': its captures and members are not saved"));
  const auto changing = only(around(node("b", [count](const Number&) mutable { return ++count; })));
  CHECK(has(changing, "operator 'b': its captures and members can change and are not saved"));
  CHECK(has(only(around(node("c", Hidden{}))), "operator 'c': its `serialize` cannot be called"));
  CHECK(has(only(pipeline(source("d", HiddenSource{}), sink("drop", drop))),
            "operator 'd': its `serialize` cannot be called"));
}

TEST_CASE("nothing is said of what is saved, or is nothing, or begins again") {
  Number left = 3;
  const auto again = [left]() mutable {
    return left-- == 0 ? std::nullopt : std::optional<Number>(left);
  };
  const Graph graph = pipeline(
      source("again", again), node("same", same), node("lambda", [](const Number& n) { return n; }),
      farm("factor", 3, [left](const Number& n) { return left * n; }), node("constant", Constant{}),
      node("count", Count<int>{}), sink("write", Write{}).replicas(2));
  CHECK(flow::unsaved_states(graph.shape).empty());
}

TEST_CASE("a farm that remembers wants equal keys to reach the same replica") {
  const auto key = [](const Number& n) { return n; };
  CHECK(has(only(around(farm("f", 3, Count<int>{}))), "operator 'f': each of its 3 replicas"));
  CHECK(has(only(around(farm("f", 3, Count<int>{}).round_robin())), "by_key"));
  CHECK(flow::unsaved_states(around(farm("f", 3, Count<int>{}).by_key(key)).shape).empty());
  CHECK(flow::unsaved_states(around(farm("f", 3, Count<int>{}).route(key)).shape).empty());
  CHECK(flow::unsaved_states(around(farm("f", 3, Count<int>{}).broadcast()).shape).empty());
  CHECK(flow::unsaved_states(around(farm("f", 3, same)).shape).empty());
  const auto workers = [] { return farm(3, pipeline(node("a", same), node("b", Count<int>{}))); };
  CHECK(has(only(around(workers())), "operator 'b': each of its 3 replicas"));
  CHECK(flow::unsaved_states(around(workers().by_key(key)).shape).empty());
}

TEST_CASE("nodes that were made one say why for all of them") {
  Number count = 0;
  const Graph graph =
      pipeline(source("read", none), node("a", Hidden{}),
               node("b", [&count](const Number&) { return ++count; }), sink("drop", drop));
  const auto fused = fuse(graph, true);
  REQUIRE(fused);
  const std::string sentence = only(*fused);
  CHECK(has(sentence, "operator 'read+a+b+drop': 'a': its `serialize` cannot be called"));
  CHECK(has(sentence, "'b': its captures"));
}

TEST_CASE("a state of another type is told with both, one that is not known is not") {
  const auto changed = flow::changed_states({{"a", "{i32}"}, {"b", "{i64}"}, {"c", "{i8}"}},
                                            {{"a", "{i64}"}, {"b", "{i64}"}, {"d", "{i8}"}});
  REQUIRE(changed.size() == 1);
  CHECK(text_of(changed[0]) ==
        "the state of operator 'a' is of another type: want {i32}, found {i64}");
}

TEST_CASE("a state by key tells what it was, version by version") {
  const Graph graph = pipeline(
      source("read", none), node("count", [](const Number& n, Third&) { return n; }).by_key(same),
      sink("drop", drop));
  const flow::StateTypes types = flow::state_types_of(graph);
  CHECK(types.layouts[1] == "keys(i64, 16 bytes)");
  REQUIRE(types.former.size() == 3);
  CHECK(types.former[0].empty());
  CHECK(types.former[1] == Layouts{"keys(i64, {string})", "keys(i64, u32)"});
  CHECK(flow::changes_since(graph, 1, "keys(i64, 16 bytes)") == 0);
  CHECK(flow::changes_since(graph, 1, "keys(i64, {string})") == 1);
  CHECK(flow::changes_since(graph, 1, "keys(i64, u32)") == 2);
  CHECK(flow::changes_since(graph, 1, "keys(i64, f64)") == 0);
  CHECK(flow::check_types(graph.shape, types).ok());
  CHECK_FALSE(flow::check_types(graph.shape, {{}, {{}, {}}}).ok());
  CHECK_FALSE(flow::check_types(graph.shape, {{}, {{}, {"\n"}, {}}}).ok());
}

TEST_CASE("so do states that end by event time, by the clock, and what windows have gathered") {
  const auto former = [](auto block, auto end) {
    const Graph graph = pipeline(source("read", none),
                                 event_time("times", second_of, std::chrono::seconds(1), drop_late),
                                 std::move(block), std::move(end));
    const flow::StateTypes types = flow::state_types_of(graph);
    for (std::size_t ago = 1; ago <= types.former[2].size(); ++ago) {
      CHECK(flow::changes_since(graph, 2, types.former[2][ago - 1]) == ago);
    }
    return types.former[2];
  };
  CHECK(former(node("count", UntilLate{}).by_key(same), sink("drop", drop)) ==
        Layouts{"keys(i64, {string} with the time of its items)",
                "keys(i64, u32 with the time of its items)"});
  CHECK(former(node("count", UntilIdle{}).by_key(same), sink("drop", drop)) ==
        Layouts{"keys(i64, {string} with its time)", "keys(i64, u32 with its time)"});
  const auto by_second = tumbling(std::chrono::seconds(1));
  CHECK(former(window("count", 1, same, second_of, by_second, Gather{}),
               sink("drop", [](const WindowResult<Number, Number>&) {}))
            .size() == 2);
  CHECK(former(window("count", 1, same, second_of, sessions(std::chrono::seconds(1)), Gather{}),
               sink("drop", [](const WindowResult<Number, Number>&) {})) ==
        Layouts{"keys(i64, sessions({string}) until 1000000000 ns without items)",
                "keys(i64, sessions(u32) until 1000000000 ns without items)"});
}
