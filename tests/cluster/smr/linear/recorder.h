#pragma once

#include <piracema/error.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "linearizability/key_history.h"
#include "linearizability/key_model.h"

namespace piracema::testing {

using linearizability::KeyModel;

/// What clients ask and hear, checked while it comes in, each key by itself. Any thread.
class Recorder {
 public:
  using History = linearizability::KeyHistory<KeyModel>;
  using Number = History::Number;

  explicit Recorder(std::size_t keys);

  std::size_t keys() const { return keys_.size(); }
  /// No operation has written it before.
  std::uint64_t new_value();

  // ---- as of KeyHistory, with the time of now where none is given
  Number called(std::size_t key, std::uint64_t client, const KeyModel::Input& input);
  void answered(std::size_t key, Number number, const KeyModel::Output& output);
  void lost(std::size_t key, Number number);
  void cancel(std::size_t key, Number number);
  Number expects(std::size_t key, const KeyModel::Input& input, Time earliest);
  void put_off(std::size_t key, Number number, Time earliest);

  /// A reply says that this value is of this version: the same for each who sees it, as long as it
  /// is among the last thousands of its key. So what was done twice shows although its value is
  /// the same.
  void is_of_version(std::size_t key, std::uint64_t value, std::uint64_t version);

  /// Operations that were checked; whose outcome nobody will know.
  std::uint64_t checked() const;
  std::uint64_t lost_count() const { return lost_; }
  /// Errc::corrupt with the counterexample; else Errc::timeout if the history of a key has more
  /// possible orders than were tried.
  Result<Done> check() const;

 private:
  struct Key {
    mutable std::mutex mutex;
    History history;
    std::map<std::uint64_t, std::uint64_t> versions;
    std::string wrong_version;
  };
  std::vector<std::unique_ptr<Key>> keys_;
  std::atomic<std::uint64_t> values_ = 0, lost_ = 0;
};

}  // namespace piracema::testing
