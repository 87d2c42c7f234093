#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <piracema/codec.h>
#include <piracema/detail/key_store.h>
#include <piracema/detail/operator_stages.h>
#include <piracema/graph.h>

/// The operator interface of paper 000 (section 4, Table 1 and Codes 1-4), names and signatures
/// as they are there:
///
///     int main(int argc, char** argv) {
///       init(argc, argv);
///       Source src;
///       Middle mdl;
///       Sink snk;
///       mdl.setReplicate(2);
///       snk.setOrdered(true);
///       pipeline::run(&src, &mdl, &snk);
///       finalize();
///     }
///
/// The operators given to `run` are prototypes: each replica works on a copy (of an operator that
/// cannot be copied, or is given through a pointer to its interface, the replicas of one process
/// share the object and call it one at a time). Members of an operator are not state: what has to
/// survive a failure belongs into the `keyStore`.
namespace piracema::operators {

/// What operators exchange: an identifier, given by the source, and the serialized payload.
struct Message {
  std::uint64_t id = 0;
  std::string value;
};

/// Called first and last in `main`.
void init(int argc, char** argv);
void finalize();

/// What the three kinds of operators have in common.
class IOperator {
 public:
  virtual ~IOperator() = default;

  /// How many replicas; 1 unless said. Sources and sinks may have several, which the paper's
  /// could not.
  void setReplicate(int replicas) { replicas_ = replicas; }
  /// A sink, or an operator with one replica: messages arrive in the order in which each source
  /// emitted them.
  void setOrdered(bool ordered) { ordered_ = ordered; }
  /// How what this operator emits reaches the replicas of the next one; on demand unless said.
  void setDelivery(Delivery delivery) { delivery_ = delivery; }
  /// A name for messages and statistics; "source", "operator1", "operator2" …, "sink" unless said.
  void setName(std::string name) { name_ = std::move(name); }

  int replicas() const { return replicas_; }
  bool ordered() const { return ordered_; }
  Delivery delivery() const { return delivery_; }
  const std::string& name() const { return name_; }

 private:
  int replicas_ = 1;
  bool ordered_ = false;
  Delivery delivery_ = Delivery::on_demand;
  std::string name_;
};

/// Brings data into the pipeline.
///
/// A snapshot sees the keyStore as it was when the last message before it was given to `Emit`.
/// After a recovery `onProduce` is called again, and if the first message that it emits has the
/// identifier of the last one before the snapshot it is taken for that one, not for a new one.
/// So both orders are exactly-once: store the position and then emit, or emit and then store.
/// There has to be one message for each position that is stored, and consecutive messages need
/// different identifiers. A source that stores nothing begins anew.
class ISourceOperator : public IOperator {
 public:
  /// Emits messages until there are no more; runs on a thread of its own. It may block for as
  /// long as it likes, but a recovery in place waits for it (1 s, then the process is replaced).
  virtual void onProduce() = 0;

  /// Where emitted messages go; set by the runtime.
  using Emitter =
      std::function<void(std::uint64_t id, std::optional<std::uint64_t> key, std::string value)>;
  void attach(Emitter emitter) { emitter_ = std::move(emitter); }

 protected:
  /// Sends a message; waits while nobody has asked for one.
  void Emit(std::uint64_t id, std::string value) { emitter_(id, std::nullopt, std::move(value)); }
  /// The same; messages with equal keys reach the same replica (affinity).
  template <class Key>
  void Emit(std::uint64_t id, std::string value, const Key& key) {
    if constexpr (piracema::detail::check_key<Key>()) {
      emitter_(id, std::hash<Key>{}(key), std::move(value));
    }
  }

 private:
  Emitter emitter_;
};

/// Transforms messages: any number of results for each.
class IMiddleOperator : public IOperator {
 public:
  virtual void onReceive(const Message& message) = 0;

  /// Set by the runtime.
  void attach(engine::Output* output) { output_ = output; }

 protected:
  /// Sends a result under the identifier of the message that is being received.
  void Emit(const std::string& value) { output_->emit(value); }
  /// The same; messages with equal keys reach the same replica (affinity).
  template <class Key>
  void Emit(const std::string& value, const Key& key) {
    if constexpr (piracema::detail::check_key<Key>()) {
      output_->emit_to_key(std::hash<Key>{}(key), value);
    }
  }

 private:
  engine::Output* output_ = nullptr;
};

/// Takes messages out of the pipeline.
class ISinkOperator : public IOperator {
 public:
  virtual void onReceive(const Message& message) = 0;
};

namespace serialization {

/// A value as bytes: raw for trivially copyable types, by cereal for others.
template <class T>
std::string serialize(const T& value) {
  Buffer bytes;
  Codec<T>::encode(value, bytes);
  return std::string(as_text(bytes));
}

/// Throws DecodeError if `bytes` are no T.
template <class T>
T deserialize(const std::string& bytes) {
  return Codec<T>::decode(as_bytes(bytes));
}

}  // namespace serialization

/// State of the replica whose operator calls: kept in memory, saved in snapshots, restored after
/// failures. Throws std::logic_error outside of an operator.
namespace keyStore {

template <class T>
void store(const std::string& key, const T& value) {
  Buffer bytes;
  Codec<T>::encode(value, bytes);
  detail::KeyStore::current().put(key, typeid(T).hash_code(), std::move(bytes));
}

/// Throws std::out_of_range for a key that was never stored, std::logic_error for one that holds
/// a value of another type.
template <class T>
T retrieve(const std::string& key) {
  return Codec<T>::decode(detail::KeyStore::current().get(key, typeid(T).hash_code()));
}

inline bool contains(const std::string& key) { return detail::KeyStore::current().contains(key); }

}  // namespace keyStore

namespace utility {

/// Inside an operator the number of its replica in the whole pipeline, elsewhere of the process:
/// under mpirun its rank.
int getRank();
/// How many replicas the pipeline has; 1 before `pipeline::run`.
int getCommunicatorSize();
/// Name of the machine.
std::string getProcessorName();

struct Stage {
  std::string name;
  int replicas = 1;
  bool ordered = false;
};
struct ExecutionPlan {
  std::vector<Stage> stages;
};
/// The pipeline that runs; empty before `pipeline::run`.
ExecutionPlan getExecutionPlan();

struct Node {
  std::string processor;
  std::string stage;
  int replica = 0;
  int rank = 0;
};
/// Where the operator that calls runs.
Node getNode();

}  // namespace utility

namespace pipeline {

/// Runs a pipeline to its end. If it fails, what went wrong is said and the process exits with
/// the code of `piracema::run`.
template <class Source, class Sink>
void run(Source* source, const std::vector<IMiddleOperator*>& middle, Sink* sink) {
  detail::Stages stages;
  stages.source(source);
  for (IMiddleOperator* each : middle) stages.middle(each);
  stages.sink(sink);
  stages.run();
}

/// `run(&source, &middle, …, &sink)`, with any number of operators in the middle.
template <class Source, class Next, class... Rest>
  requires(std::is_base_of_v<ISourceOperator, Source> && std::is_base_of_v<IOperator, Next>)
void run(Source* source, Next* next, Rest*... rest) {
  detail::Stages stages;
  stages.source(source);
  stages.rest(next, rest...);
  stages.run();
}

}  // namespace pipeline

}  // namespace piracema::operators
