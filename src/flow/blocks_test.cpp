#include <doctest/doctest.h>
#include <piracema/blocks.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/engine.h"
#include "flow/graph_testing.h"

using namespace piracema;
using flow::testing::drop;
using flow::testing::none;
using flow::testing::Number;
using flow::testing::same;

namespace {

struct Split {
  void operator()(const Number& n, Emit<Number>& low, EmitTo<std::string>& high) const {
    n < 10 ? low(n) : high.to(0, "high");
  }
};
std::string text(const std::string& item) { return item; }
Number length(const std::string& item) { return static_cast<Number>(item.size()); }

struct Master {
  void operator()(const Number& n, Emit<std::string>& task, Emit<Number>&) const {
    task(std::to_string(n));
  }
  void back(const Number& n, Emit<std::string>&, Emit<Number>& out) const { out(n); }
};

/// "a>b" for each edge; "a>b 1" by output 1, "a<b" for a back edge from b to a.
std::vector<std::string> edges(const Graph& graph) {
  std::vector<std::string> all;
  for (const EdgeShape& edge : graph.shape.edges) {
    const std::string& from = graph.shape.nodes[edge.from].name;
    const std::string& to = graph.shape.nodes[edge.to].name;
    std::string text = edge.back ? to + "<" + from : from + ">" + to;
    if (edge.output != 0) text += " " + std::to_string(edge.output);
    if (edge.parts != 1) text += " /" + std::to_string(edge.parts);
    all.push_back(text);
  }
  return all;
}
using Edges = std::vector<std::string>;

}  // namespace

TEST_CASE("in an all-to-all every member of the left set leads to every one of the right") {
  const Graph graph = pipeline(all_to_all(set(source("a", none), source("b", none)),
                                          set(node("x", same), farm("y", 2, same))),
                               sink("end", drop));
  CHECK(edges(graph) == Edges{"a>x", "a>y", "b>x", "b>y", "x>end", "y>end"});
  CHECK(validate(graph.shape).ok());
}

TEST_CASE("branches take one output each, and may meet again") {
  const Graph graph =
      pipeline(source("a", none), node("split", Split{}),
               branches(node("low", same), pipeline(node("high", text), node("length", length))),
               sink("end", drop));
  CHECK(validate(graph.shape).ok());
  CHECK(edges(graph) ==
        Edges{"a>split", "high>length", "split>low", "split>high 1", "low>end", "length>end"});
  const auto& high = *std::find_if(graph.shape.edges.begin(), graph.shape.edges.end(),
                                   [](const EdgeShape& edge) { return edge.output == 1; });
  CHECK(high.items_may_have_keys);  // Its code names who gets an item: EmitTo.
}

TEST_CASE("workers of a farm may be pipelines and farms of their own") {
  const Graph graph = pipeline(
      source("a", none), farm(3, pipeline(node("b", same), farm("c", 2, same), node("d", same))),
      sink("end", drop));
  CHECK(edges(graph) == Edges{"b>c /3", "c>d /3", "a>b", "d>end"});
  CHECK(graph.shape.nodes[2].replicas == 6);
  CHECK(validate(graph.shape).ok());
}

TEST_CASE("a master gets results back where its code has `back`") {
  const Graph graph =
      pipeline(source("a", none), master_worker(node("master", Master{}), farm("work", 4, length)),
               sink("end", drop));
  CHECK(edges(graph) == Edges{"master>work", "master<work", "a>master", "master>end 1"});
  CHECK(validate(graph.shape).ok());
  for (const EdgeShape& edge : graph.shape.edges) CHECK(edge.input == (edge.back ? 1 : 0));
}

TEST_CASE("farms of the same size are joined one to one if they are asked to be") {
  const Graph right = pipeline(source("a", none), farm("b", 3, same),
                               farm("c", 3, same).one_to_one(), sink("end", drop));
  CHECK(edges(right)[1] == "b>c /3");
  const Graph wrong = pipeline(source("a", none), farm("b", 3, same),
                               farm("c", 2, same).one_to_one(), sink("end", drop));
  const auto refused = validate(wrong.shape);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("from 'b' to 'c' has 3 parts") != std::string::npos);
}
