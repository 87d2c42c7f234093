// Calls each function of Table 1 of paper 000 and prints what it returns, "NAME: VALUE" a line.
//
//     table1_app OUT     OUT is where the sink writes: it may be in another process
#include <piracema/operators.h>

#include <cereal/types/map.hpp>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

using namespace piracema::operators;

using Table = std::map<std::string, std::vector<int>>;

class Source : public ISourceOperator {
 public:
  void onProduce() override {
    for (std::uint64_t id = 0; id < 10; ++id) {
      Emit(id, serialization::serialize(Table{{"numbers", {1, 2, static_cast<int>(id)}}}));
    }
  }
};

class Middle : public IMiddleOperator {
 public:
  void onReceive(const Message& message) override {
    const auto table = serialization::deserialize<Table>(message.value);
    Emit(serialization::serialize(table.at("numbers").back()));
  }
};

class Sink : public ISinkOperator {
 public:
  explicit Sink(std::string out) : out_(std::move(out)) {}

  void onReceive(const Message& message) override {
    const bool known = keyStore::contains("sum");
    const int sum = known ? keyStore::retrieve<int>("sum") : 0;
    keyStore::store("sum", sum + serialization::deserialize<int>(message.value));
    if (message.id == 9) print(known);
  }

 private:
  void print(bool known) const {
    std::ofstream out(out_);
    out << "contains: " << known << "\nretrieve: " << keyStore::retrieve<int>("sum") << "\n";
    const utility::ExecutionPlan plan = utility::getExecutionPlan();
    out << "getExecutionPlan:";
    for (const utility::Stage& stage : plan.stages) {
      out << " " << stage.name << " x" << stage.replicas << (stage.ordered ? " ordered" : "");
    }
    const utility::Node node = utility::getNode();
    out << "\ngetNode: " << node.stage << " " << node.replica << " " << node.rank << "\n";
    out << "same machine: " << (node.processor == utility::getProcessorName()) << "\n";
    out << "getProcessorName: " << utility::getProcessorName() << "\n";
    out << "getRank: " << utility::getRank() << "\n";
    out << "getCommunicatorSize: " << utility::getCommunicatorSize() << "\n";
  }

  std::string out_;
};

int main(int argc, char** argv) {
  init(argc, argv);
  if (argc != 2) return 2;
  Source source;
  Middle middle;
  Sink sink(argv[1]);
  middle.setReplicate(3);
  sink.setOrdered(true);
  pipeline::run(&source, &middle, &sink);
  finalize();
}
