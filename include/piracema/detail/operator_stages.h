#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>

#include <piracema/graph.h>

namespace piracema::operators {

class IOperator;
class ISourceOperator;
class IMiddleOperator;
class ISinkOperator;

}  // namespace piracema::operators

namespace piracema::operators::detail {

using namespace engine;

/// An operator of the user for one replica. Where replicas have to share it, `turn` lets them
/// take turns; else it is null.
template <class I>
struct Held {
  std::shared_ptr<I> object;
  std::shared_ptr<std::mutex> turn;
};
template <class I>
using Maker = std::function<Held<I>()>;

template <class I, class T>
Maker<I> maker_of(T* prototype) {
  if constexpr (std::is_copy_constructible_v<T> && !std::is_abstract_v<T>) {
    return [copy = std::make_shared<const T>(*prototype)] {
      return Held<I>{std::make_shared<T>(*copy), nullptr};
    };
  } else {
    return [prototype, turn = std::make_shared<std::mutex>()] {
      return Held<I>{std::shared_ptr<I>(prototype, [](I*) {}), turn};
    };
  }
}

/// Collects operators and runs them as one graph.
class Stages {
 public:
  template <class T>
  void source(T* prototype) {
    add_source(*prototype, maker_of<ISourceOperator>(prototype));
  }
  template <class T>
  void middle(T* prototype) {
    add_middle(*prototype, maker_of<IMiddleOperator>(prototype));
  }
  template <class T>
  void sink(T* prototype) {
    add_sink(*prototype, maker_of<ISinkOperator>(prototype));
  }

  template <class T, class... More>
  void rest(T* next, More*... more) {
    if constexpr (sizeof...(more) == 0) {
      static_assert(std::is_base_of_v<ISinkOperator, T>, "the last operator has to be a sink");
      sink(next);
    } else {
      static_assert(std::is_base_of_v<IMiddleOperator, T>,
                    "between the source and the sink stand IMiddleOperators");
      middle(next);
      rest(more...);
    }
  }

  /// Exits the process if the job fails.
  void run();

 private:
  void add_source(const IOperator& settings, Maker<ISourceOperator> make);
  void add_middle(const IOperator& settings, Maker<IMiddleOperator> make);
  void add_sink(const IOperator& settings, Maker<ISinkOperator> make);
  void add(const IOperator& settings, Role role, std::string name,
           std::function<std::unique_ptr<Operator>()> make);

  Graph graph_;
  Delivery last_delivery_ = Delivery::on_demand;
};

}  // namespace piracema::operators::detail
