#include <doctest/doctest.h>
#include <piracema/graph.h>

#include <functional>
#include <string>

#include "base/engine.h"
#include "base/testing.h"

using namespace piracema;
using testing::contains;

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

}  // namespace

TEST_CASE("a pipeline of a source, a farm and a sink is valid") {
  CHECK(validate(three_nodes()).ok());
}

TEST_CASE("a graph without source or sink is refused, by name of what is missing") {
  CHECK(contains(said([](auto& s) { s.nodes[0].role = Role::middle; }), "no source"));
  CHECK(contains(said([](auto& s) { s.nodes[2].role = Role::middle; }), "no sink"));
  CHECK(contains(said([](auto& s) { s = {}; }), "no nodes"));
}

TEST_CASE("a node is refused with its name and the rule that it breaks") {
  CHECK(contains(said([](auto& s) { s.nodes[1].replicas = 0; }), "'worker': want 1 to"));
  CHECK(contains(said([](auto& s) { s.nodes[1].replicas = 20'000; }), "found 20000"));
  CHECK(
      contains(said([](auto& s) { s.nodes[1].name = "reader"; }), "two nodes are named 'reader'"));
  CHECK(contains(said([](auto& s) { s.nodes[1].name = "a b"; }), "'a b'"));
  CHECK(contains(said([](auto& s) { s.nodes[1].name = ""; }), "node name ''"));
}

TEST_CASE("an order over several replicas is refused, as there is none") {
  CHECK(contains(said([](auto& s) { s.nodes[1].ordered = true; }), "'worker' is ordered"));
  CHECK(said([](auto& s) { s.nodes[2].ordered = true; }) == "valid");
  CHECK(contains(said([](auto& s) { s.nodes[0].ordered = true; }), "source 'reader'"));
}

TEST_CASE("edges that leave an end open or lead nowhere are refused") {
  CHECK(contains(said([](auto& s) { s.edges.pop_back(); }), "'worker' has 0 outputs"));
  CHECK(contains(said([](auto& s) { s.edges[1].to = 0; }), "source 'reader' has 1 inputs"));
  CHECK(contains(said([](auto& s) { s.edges[1].from = 7; }), "an edge from node 7"));
  CHECK(contains(said([](auto& s) { s.edges.push_back(s.edges[0]); }), "two edges from 'reader'"));
  CHECK(contains(said([](auto& s) { s.nodes[1].outputs = 2; }), "output 1 of node 'worker'"));
  CHECK(contains(said([](auto& s) { s.edges[1].output = 1; }), "which has 1"));
}

namespace {

/// reader > master, which leads to a worker and to a writer, and the worker back to the master.
GraphShape with_cycle() {
  GraphShape shape;
  shape.nodes = {{.name = "reader", .role = Role::source},
                 {.name = "master", .inputs = 2, .outputs = 2},
                 {.name = "worker", .replicas = 4},
                 {.name = "writer", .role = Role::sink}};
  shape.edges = {{.from = 0, .to = 1},
                 {.from = 1, .to = 2},
                 {.from = 1, .to = 3, .output = 1},
                 {.from = 2, .to = 1, .input = 1, .back = true}};
  return shape;
}

std::string said_of_cycle(const std::function<void(GraphShape&)>& change) {
  GraphShape shape = with_cycle();
  change(shape);
  const auto valid = validate(shape);
  return valid ? "valid" : valid.error().message;
}

}  // namespace

TEST_CASE("a cycle is an edge that says so, and closes one") {
  CHECK(said_of_cycle([](auto&) {}) == "valid");
  CHECK(contains(said_of_cycle([](auto& s) { s.edges[3].back = false; }),
                 "comes after itself: a cycle needs an edge that is marked as back"));
  CHECK(contains(said_of_cycle([](auto& s) {
                   s.edges.push_back({.from = 2, .to = 3, .back = true});
                   s.nodes[2].outputs = 2;
                   s.edges[3].output = 1;
                 }),
                 "from 'worker' to 'writer' closes no cycle"));
  CHECK(contains(said_of_cycle([](auto& s) { s.edges[2].output = 0, s.nodes[1].outputs = 1; }),
                 "output 0 of 'master' leads into its cycle and out of it"));
}

TEST_CASE("no order is kept through a cycle") {
  CHECK(contains(said_of_cycle([](auto& s) { s.nodes[3].ordered = true; }),
                 "ordered node 'writer' comes after the cycle of 'master'"));
}

TEST_CASE("blocks are connected one to one only if they have the same number of nodes") {
  const auto one_to_one = [](std::uint32_t parts) {
    return said([parts](auto& s) {
      s.nodes[0].replicas = 4;
      s.edges[0].parts = parts;
    });
  };
  CHECK(one_to_one(4) == "valid");
  CHECK(one_to_one(2) == "valid");
  CHECK(contains(one_to_one(3), "'reader' to 'worker' has 3 parts"));
  CHECK(contains(one_to_one(3), "third rule"));
}

namespace {

GraphShape by_key() {
  GraphShape shape = three_nodes();
  shape.edges[0].delivery = Delivery::by_key;
  shape.edges[0].key_groups = 16;
  return shape;
}

std::string said_by_key(const std::function<void(GraphShape&)>& change) {
  return said([&](GraphShape& shape) {
    shape = by_key();
    change(shape);
  });
}

}  // namespace

TEST_CASE("keys are in groups, and no node has more replicas than groups") {
  CHECK(said_by_key([](auto&) {}) == "valid");
  CHECK(contains(said_by_key([](auto& s) { s.edges[0].key_groups = 0; }), "a power of two from 2"));
  CHECK(contains(said_by_key([](auto& s) { s.edges[0].key_groups = 17; }), "found 17"));
  CHECK(contains(said_by_key([](auto& s) { s.edges[0].key_groups = 1 << 16; }), "found 65536"));
  CHECK(contains(said_by_key([](auto& s) { s.edges[1].key_groups = 16; }), "is not by key"));
  CHECK(said_by_key([](auto& s) { s.nodes[1].replicas = 16; }) == "valid");
  CHECK(contains(said_by_key([](auto& s) { s.nodes[1].replicas = 17; }),
                 "'worker' has 17 replicas for the keys of 16 groups"));
}

TEST_CASE("a node with a state for each key gets all its items by key, and alone") {
  CHECK(said_by_key([](auto& s) { s.nodes[1].keyed = true; }) == "valid");
  CHECK(contains(said([](auto& s) { s.nodes[1].keyed = true; }),
                 "'worker' has a state for each key: want items by key, found them on demand"));
  CHECK(contains(said_by_key([](auto& s) { s.nodes[0].keyed = true; }), "want an input by key"));
  CHECK(contains(said_by_key([](auto& s) {
                   s.nodes[1].keyed = true;
                   s.nodes.push_back({.name = "other", .role = Role::sink});
                   s.edges.push_back(s.edges[0]);
                   s.edges.back().to = 3;
                 }),
                 "'other' shares its input"));
}

TEST_CASE("a graph is drawn with its replicas and deliveries") {
  GraphShape shape = three_nodes();
  shape.edges[0].delivery = Delivery::by_key;
  shape.edges[0].key_groups = key_groups_default;
  shape.nodes[1].saves_state = false;
  const std::string dot = to_dot(shape);
  CHECK(contains(dot, "worker x4\\nmembers are not saved"));
  CHECK(contains(dot, "\"reader\" -> \"worker\" [label=\"by key\"]"));
}
