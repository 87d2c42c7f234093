#include <piracema/operators.h>
#include <piracema/run.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/text.h"
#include "cluster/operators/place.h"
#include "cluster/operators/push_source.h"
#include "cluster/operators/running_plan.h"

namespace piracema::operators::detail {

namespace {

/// What middle operators and sinks have in common: the user's object, its messages, its state.
template <class I>
class Receiver final : public Operator {
 public:
  explicit Receiver(const Maker<I>& make) : held_(make()) {}

  void open(const Context& context) override { context_ = context; }

  void process(Batch& batch, Output& output) override {
    const Place place(context_);
    const KeyStore::Use use(store_);
    BatchReader items(batch);
    for (std::uint32_t i = 0; i < batch.count; ++i) {
      const Bytes item = items.next();
      if (!output.begin_item(batch, i, item)) continue;
      receive({batch.id(i), std::string(as_text(item))}, output);
    }
  }

  std::string layout_of_items(std::uint32_t) const override { return "string"; }
  void save(Buffer& out) override { store_.save(out); }
  void load(Bytes in) override { store_.load(in); }

 private:
  void receive(const Message& message, Output& output) {
    const std::unique_lock turn =
        held_.turn ? std::unique_lock(*held_.turn) : std::unique_lock<std::mutex>();
    if constexpr (std::is_same_v<I, IMiddleOperator>) held_.object->attach(&output);
    held_.object->onReceive(message);
  }

  Held<I> held_;
  Context context_;
  KeyStore store_;
};

}  // namespace

void Stages::add(const IOperator& settings, Role role, std::string name,
                 std::function<std::unique_ptr<Operator>()> make) {
  NodeShape node{.name = settings.name().empty() ? name : settings.name(),
                 .role = role,
                 .replicas = static_cast<std::uint32_t>(std::max(settings.replicas(), 0)),
                 .ordered = settings.ordered(),
                 .input = role == Role::source ? "" : "Message",
                 .output = role == Role::sink ? "" : "Message"};
  const auto index = static_cast<std::uint32_t>(graph_.shape.nodes.size());
  if (index != 0) {
    graph_.shape.edges.push_back(
        {.from = index - 1, .to = index, .delivery = last_delivery_, .items_may_have_keys = true});
    graph_.routers.emplace_back();
  }
  last_delivery_ = settings.delivery();
  graph_.shape.nodes.push_back(std::move(node));
  graph_.code.push_back(std::move(make));
}

void Stages::add_source(const IOperator& settings, Maker<ISourceOperator> make) {
  add(settings, Role::source, "source",
      [make = std::move(make)] { return std::make_unique<PushSource>(make); });
}

void Stages::add_middle(const IOperator& settings, Maker<IMiddleOperator> make) {
  add(settings, Role::middle, concat("operator", graph_.shape.nodes.size()),
      [make = std::move(make)] { return std::make_unique<Receiver<IMiddleOperator>>(make); });
}

void Stages::add_sink(const IOperator& settings, Maker<ISinkOperator> make) {
  add(settings, Role::sink, "sink",
      [make = std::move(make)] { return std::make_unique<Receiver<ISinkOperator>>(make); });
}

void Stages::run() {
  set_running_plan(graph_.shape);
  // As `pipeline::run` returns nothing, a program that goes on would end with 0.
  if (const int code = piracema::run(graph_); code != 0) std::exit(code);
}

}  // namespace piracema::operators::detail
