// A program's own types may have the names of the engine's.
#include <piracema/piracema.h>

using namespace piracema;

struct Order {
  int number;
};
struct Batch {
  Order first;
};
enum class Role { buyer, seller };
struct Output {
  Role role;
};
struct Operator {};
struct Router {};
struct Produced {};
struct NodeShape {};
struct EdgeShape {};
struct GraphShape {};
struct GroupShape {};
struct BatchReader {};

struct Sell {
  Output operator()(const Order& order) const {
    const Batch batch{order};
    return {batch.first.number % 2 == 0 ? Role::buyer : Role::seller};
  }
};

int main() {
  const Operator plus;
  const Router way;
  const Produced produced;
  const NodeShape node_shape;
  const EdgeShape edge_shape;
  const GraphShape graph_shape;
  const GroupShape group_shape;
  const BatchReader reader;
  [[maybe_unused]] const auto all = std::tie(plus, way, produced, node_shape, edge_shape,
                                             graph_shape, group_shape, reader);
  return run(pipeline(source("in", [] { return std::optional<Order>(); }),
                      farm("sell", 2, Sell{}).by_key([](const Order& order) {
                        return order.number;
                      }),
                      sink("out", [](const Output&) {})));
}
