#include "flow/states.h"

#include <doctest/doctest.h>
#include <piracema/blocks.h>

#include <cereal/types/map.hpp>
#include <map>

using namespace piracema;
using Layouts = std::vector<std::string>;

namespace {

using Number = std::int64_t;

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
std::optional<Number> none() { return std::nullopt; }
Number same(const Number& n) { return n; }
void drop(const Number&) {}

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
  CHECK(flow::layouts_of(graph) == Layouts{"i64", "{map(string, i32), i64}", "nothing", "nothing"});
  const auto fused = fuse(graph, true);
  REQUIRE(fused);
  CHECK(flow::layouts_of(*fused) == Layouts{"i64 + {map(string, i32), i64} + nothing + nothing"});
}

TEST_CASE("where a cycle leads back a snapshot holds items, and they are told as well") {
  const Graph graph =
      pipeline(source("read", none), master_worker(node("again", Again{}), node("work", same)),
               sink("drop", drop));
  CHECK(flow::layouts_of(graph) == Layouts{"nothing", "{string}, items i64", "nothing", "nothing"});
}

TEST_CASE("a layout is bounded and printable, and still another one for another type") {
  const Graph graph = pipeline(source("read", none), node("large", Large{}), sink("drop", drop));
  const std::string layout = flow::layouts_of(graph)[1];
  CHECK(layout.size() == flow::layout_bytes_max);
  CHECK(layout.find("... #") != std::string::npos);
  CHECK(flow::check_layouts(graph.shape, flow::layouts_of(graph)).ok());
  CHECK(flow::check_layouts(graph.shape, {}).ok());
  CHECK_FALSE(flow::check_layouts(graph.shape, {"i64"}).ok());
  CHECK_FALSE(flow::check_layouts(graph.shape, {"", "\n", ""}).ok());
  CHECK_FALSE(flow::check_layouts(graph.shape, {"", std::string(513, 'x'), ""}).ok());
}

TEST_CASE("code without anything to call knows nothing of its state") {
  Graph graph = pipeline(source("read", none), node("x", Throws{}), sink("drop", drop));
  graph.code[0] = nullptr;
  graph.code[1] = []() -> std::unique_ptr<Operator> { throw std::runtime_error("no"); };
  CHECK(flow::layouts_of(graph) == Layouts{"", "", "nothing"});
}

TEST_CASE("a state of another type is told with both, one that is not known is not") {
  CHECK(flow::changed_states({{"a", "{i32}"}, {"b", "{i64}"}, {"c", "{i8}"}},
                             {{"a", "{i64}"}, {"b", "{i64}"}, {"d", "{i8}"}}) ==
        Layouts{"the state of operator 'a' is of another type: want {i32}, found {i64}"});
}
