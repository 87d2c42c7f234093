// Programs that compile, and whose graphs cannot run: the first argument says which.
#include <piracema/operators.h>
#include <piracema/run.h>

#include <cstdio>
#include <string>

using namespace piracema;
using namespace piracema::engine;

namespace {

struct Source : operators::ISourceOperator {
  void onProduce() override {}
};
struct Middle : operators::IMiddleOperator {
  void onReceive(const operators::Message&) override {}
};
struct Sink : operators::ISinkOperator {
  void onReceive(const operators::Message&) override {}
};

GraphShape with_nodes(std::initializer_list<Role> roles) {
  GraphShape shape;
  for (const Role role : roles) {
    const auto number = static_cast<std::uint32_t>(shape.nodes.size());
    shape.nodes.push_back({.name = "n" + std::to_string(number), .role = role});
    if (number > 0) shape.edges.push_back({.from = number - 1, .to = number});
  }
  return shape;
}

int run_shape(GraphShape shape) {
  Graph graph;
  graph.shape = std::move(shape);
  return run(graph);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mistake = argc > 1 ? argv[1] : "";
  if (mistake == "empty") return run_shape({});
  if (mistake == "no source") return run_shape(with_nodes({Role::middle, Role::sink}));
  if (mistake == "no sink") return run_shape(with_nodes({Role::source, Role::middle}));

  operators::init(argc, argv);
  Source source;
  Middle middle, second;
  Sink sink;
  if (mistake == "no replicas") middle.setReplicate(0);
  if (mistake == "negative replicas") middle.setReplicate(-3);
  if (mistake == "too many replicas") middle.setReplicate(1'000'000);
  if (mistake == "ordered replicas") {
    sink.setReplicate(2);
    sink.setOrdered(true);
  }
  if (mistake == "ordered source") source.setOrdered(true);
  if (mistake == "same name") {
    middle.setName("work");
    second.setName("work");
  }
  if (mistake == "strange name") middle.setName("a name with spaces");
  operators::pipeline::run(&source, &middle, &second, &sink);
  operators::finalize();
  std::puts("it ran");
}
