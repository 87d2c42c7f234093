#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

/// Was what clients saw of a replicated service possible with one that is not? (Herlihy and Wing
/// 1990.)
namespace piracema::linearizability {

/// What one client asked for and was told. It took effect once, at some moment between `call` and
/// `answer`; nobody knows at which.
template <class Model>
struct Operation {
  /// Positions in the history: no two calls or answers of it have the same.
  std::uint64_t call = 0;
  /// nullopt: open. The client never learned whether it took effect, and it still may.
  std::optional<std::uint64_t> answer;
  typename Model::Input input{};
  /// Of no meaning for an open operation.
  typename Model::Output output{};
  /// For people: who asked.
  std::uint64_t client = 0;
};

template <class Model>
using Operations = std::vector<Operation<Model>>;

/// Writes down what clients ask and hear, in the order of the true time in which they do.
template <class Model>
class History {
 public:
  /// Identifies the operation to `answered`.
  std::size_t called(std::uint64_t client, typename Model::Input input) {
    operations_.push_back({next_++, std::nullopt, std::move(input), {}, client});
    return operations_.size() - 1;
  }
  void answered(std::size_t operation, typename Model::Output output) {
    operations_[operation].answer = next_++;
    operations_[operation].output = std::move(output);
  }

  const Operations<Model>& operations() const { return operations_; }

 private:
  Operations<Model> operations_;
  std::uint64_t next_ = 0;
};

/// Operations on different keys do not see each other, so each key's history is checked alone
/// (locality: Herlihy and Wing 1990, theorem 1).
template <class Model>
std::map<std::uint64_t, Operations<Model>> by_key(const Operations<Model>& operations) {
  std::map<std::uint64_t, Operations<Model>> parts;
  for (const auto& operation : operations) {
    parts[Model::key(operation.input)].push_back(operation);
  }
  return parts;
}

}  // namespace piracema::linearizability
