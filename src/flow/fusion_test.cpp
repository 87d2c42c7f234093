#include <doctest/doctest.h>
#include <piracema/blocks.h>

#include <string>
#include <vector>

#include "base/engine.h"

using namespace piracema;

namespace {

/// Keeps what is emitted by each output; there is one lane for each.
class KeptItems final : public Output {
 public:
  explicit KeptItems(std::size_t outputs) {
    ways_.resize(outputs);
    lanes_.resize(2 * outputs);
    for (std::size_t i = 0; i < outputs; ++i) {
      ways_[i].first_lane = 2 * i;
      ways_[i].receivers = 1;
      ways_[i].items_limit = 1'000'000;
    }
    budget_ = 1'000'000;
  }
  std::vector<std::int64_t> items(std::size_t output = 0) {
    std::vector<std::int64_t> found;
    const Batch& batch = lanes_[ways_[output].any_lane()];
    BatchReader reader(batch);
    for (std::uint32_t i = 0; i < batch.count; ++i) {
      found.push_back(Codec<std::int64_t>::decode(reader.next()));
    }
    return found;
  }

 private:
  void lane_full(std::size_t) override {}
  bool skip(Bytes) override { return false; }
};

struct Sum {
  std::int64_t sum = 0;
  std::string node{};
  void start(const Context& context) { node = context.node; }
  void operator()(const std::int64_t& n, Emit<std::int64_t>& emit) { emit(sum += n); }
  void finish(Emit<std::int64_t>& emit) const { emit(-sum); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(sum);
  }
};

std::int64_t twice(const std::int64_t& n) { return 2 * n; }
std::optional<std::int64_t> one() { return 1; }
void drop_result(const std::int64_t&) {}

Graph middle_fused() {
  const Graph graph =
      pipeline(source("one", one), combine(node("twice", twice), node("sum", Sum{})),
               sink("drop", drop_result));
  return *fuse(graph, false);
}

std::vector<std::string> names(const GraphShape& shape) {
  std::vector<std::string> all;
  for (const NodeShape& node : shape.nodes) all.push_back(node.name);
  return all;
}

Batch batch_of(std::vector<std::int64_t> values) {
  Batch batch;
  for (const std::int64_t value : values) batch.add(0, value);
  return batch;
}

}  // namespace

TEST_CASE("combined nodes are one, which does what both do, and others stay as they are") {
  const Graph fused = middle_fused();
  CHECK(names(fused.shape) == std::vector<std::string>{"one", "twice+sum", "drop"});
  CHECK(validate(fused.shape).ok());
  const auto both = fused.code[1]();
  both->open({.node = "twice+sum"});
  KeptItems output(1);
  Batch three = batch_of({1, 2, 3});
  both->process(three, output);
  both->finish(output);
  CHECK(output.items() == std::vector<std::int64_t>{2, 6, 12, -12});
}

TEST_CASE("fused nodes save and load the state of each") {
  const Graph fused = middle_fused();
  KeptItems before(1), after(1);
  const auto first = fused.code[1](), second = fused.code[1]();
  Batch five = batch_of({5}), one_more = batch_of({1});
  first->process(five, before);
  Buffer state;
  first->save(state);
  second->load(state);
  second->process(one_more, after);
  CHECK(after.items() == std::vector<std::int64_t>{12});
}

TEST_CASE("a program of which all can be fused is one node") {
  const Graph graph = pipeline(source("one", one), node("twice", twice), sink("drop", drop_result));
  const Graph fused = *fuse(graph, true);
  REQUIRE(names(fused.shape) == std::vector<std::string>{"one+twice+drop"});
  CHECK(fused.shape.nodes[0].role == Role::whole);
  CHECK(fused.shape.edges.empty());
  CHECK(validate(fused.shape).ok());
}

TEST_CASE("workers of a farm that are pipelines are fused worker by worker") {
  const Graph graph =
      pipeline(source("one", one), farm(3, pipeline(node("twice", twice), node("sum", Sum{}))),
               sink("drop", drop_result));
  const GraphShape fused = *fuse(graph.shape, true);
  CHECK(names(fused) == std::vector<std::string>{"one", "twice+sum", "drop"});
  CHECK(fused.nodes[1].replicas == 3);
}

TEST_CASE("neighbours are combined by themselves where the cheaper one costs less than the way") {
  using std::chrono::nanoseconds;
  const auto program = [](nanoseconds first, nanoseconds second, nanoseconds third) {
    Graph graph =
        pipeline(source("one", one), node("a", twice).cost(first), node("b", twice).cost(second),
                 node("c", twice).cost(third), sink("drop", drop_result));
    combine_cheap(graph.shape);
    return names((*fuse(graph, false)).shape);
  };
  using Names = std::vector<std::string>;
  using std::chrono::microseconds;
  CHECK(program(nanoseconds(5), microseconds(2), microseconds(2)) ==
        Names{"one", "a+b", "c", "drop"});
  CHECK(program(microseconds(2), nanoseconds(5), microseconds(2)) ==
        Names{"one", "a+b", "c", "drop"});
  CHECK(program(microseconds(2), microseconds(2), nanoseconds(5)) ==
        Names{"one", "a", "b+c", "drop"});
  CHECK(program(nanoseconds(5), nanoseconds(5), nanoseconds(5)) == Names{"one", "a+b+c", "drop"});
  CHECK(program(microseconds(2), microseconds(2), microseconds(2)).size() == 5);
}

TEST_CASE(
    "neighbours of which one said no cost, or that are not one to one, are left as they are") {
  Graph graph =
      pipeline(source("one", one), node("a", twice).cost(std::chrono::nanoseconds(5)),
               farm("b", 2, twice).cost(std::chrono::nanoseconds(5)), sink("drop", drop_result));
  combine_cheap(graph.shape);
  CHECK((*fuse(graph, false)).shape.nodes.size() == 4);
}

TEST_CASE("nodes that are not one to one are not fused, and not combined") {
  const Graph graph =
      pipeline(source("one", one), farm("twice", 2, twice), sink("drop", drop_result));
  CHECK((*fuse(graph.shape, true)).nodes.size() == 3);
  const Graph wrong =
      pipeline(source("one", one), combine(farm("twice", 2, twice), sink("drop", drop_result)));
  const auto refused = fuse(wrong, false);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("'twice' and 'drop' cannot be combined") != std::string::npos);
}
