#include <piracema/graph.h>

#include <doctest/doctest.h>

#include <functional>
#include <string>

using namespace piracema;

namespace {

GraphShape three_nodes() {
  GraphShape shape;
  shape.nodes = {{.name = "reader", .role = Role::source},
                 {.name = "worker", .role = Role::middle, .replicas = 4},
                 {.name = "writer", .role = Role::sink}};
  shape.edges = {{.from = 0, .to = 1}, {.from = 1, .to = 2}};
  return shape;
}

// What is said when `change` has been made to a graph that is right.
std::string said(const std::function<void(GraphShape&)>& change) {
  GraphShape shape = three_nodes();
  change(shape);
  const auto valid = validate(shape);
  if (valid) return "valid";
  CHECK(valid.error().code == Errc::config);
  return valid.error().message;
}

bool mentions(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

}  // namespace

TEST_CASE("a pipeline of a source, a farm and a sink is valid") {
  CHECK(validate(three_nodes()).ok());
}

TEST_CASE("a graph without source or sink is refused, by name of what is missing") {
  CHECK(mentions(said([](auto& s) { s.nodes[0].role = Role::middle; }), "no source"));
  CHECK(mentions(said([](auto& s) { s.nodes[2].role = Role::middle; }), "no sink"));
  CHECK(mentions(said([](auto& s) { s = {}; }), "no nodes"));
}

TEST_CASE("a node is refused with its name and the rule that it breaks") {
  CHECK(mentions(said([](auto& s) { s.nodes[1].replicas = 0; }), "'worker': want 1 to"));
  CHECK(mentions(said([](auto& s) { s.nodes[1].replicas = 20'000; }), "found 20000"));
  CHECK(mentions(said([](auto& s) { s.nodes[1].name = "reader"; }), "two nodes are named 'reader'"));
  CHECK(mentions(said([](auto& s) { s.nodes[1].name = "a b"; }), "'a b'"));
  CHECK(mentions(said([](auto& s) { s.nodes[1].name = ""; }), "node name ''"));
}

TEST_CASE("an order over several replicas is refused, as there is none") {
  CHECK(mentions(said([](auto& s) { s.nodes[1].ordered = true; }), "'worker' is ordered"));
  CHECK(said([](auto& s) { s.nodes[2].ordered = true; }) == "valid");
  CHECK(mentions(said([](auto& s) { s.nodes[0].ordered = true; }), "source 'reader'"));
}

TEST_CASE("edges that make no pipeline are refused") {
  CHECK(mentions(said([](auto& s) { s.edges.pop_back(); }), "'worker' has 0 outputs"));
  CHECK(mentions(said([](auto& s) { s.edges[1].to = 0; }), "leads to the next"));
  CHECK(mentions(said([](auto& s) { s.edges[1].from = 7; }), "leads to the next"));
  CHECK(mentions(said([](auto& s) { s.edges.push_back(s.edges[0]); }), "has 2"));
}

TEST_CASE("a graph is drawn with its replicas and deliveries") {
  GraphShape shape = three_nodes();
  shape.edges[0].delivery = Delivery::by_key;
  shape.nodes[1].saves_state = false;
  const std::string dot = to_dot(shape);
  CHECK(mentions(dot, "worker x4\\nmembers are not saved"));
  CHECK(mentions(dot, "\"reader\" -> \"worker\" [label=\"by key\"]"));
}
