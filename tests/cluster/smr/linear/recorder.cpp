#include "cluster/smr/linear/recorder.h"

#include "base/text.h"

namespace piracema::testing {

namespace {

constexpr std::size_t versions_max = 4'096;

}  // namespace

Recorder::Recorder(std::size_t keys) {
  for (std::size_t i = 0; i < keys; ++i) keys_.push_back(std::make_unique<Key>());
}

std::uint64_t Recorder::new_value() { return ++values_; }

Recorder::Number Recorder::called(std::size_t key, std::uint64_t client,
                                  const KeyModel::Input& input) {
  const std::lock_guard lock(keys_[key]->mutex);
  return keys_[key]->history.called(client, input, now());
}
void Recorder::answered(std::size_t key, Number number, const KeyModel::Output& output) {
  const std::lock_guard lock(keys_[key]->mutex);
  keys_[key]->history.answered(number, output, now());
}
void Recorder::lost(std::size_t key, Number number) {
  lost_ += 1;
  const std::lock_guard lock(keys_[key]->mutex);
  keys_[key]->history.lost(number);
}
void Recorder::cancel(std::size_t key, Number number) {
  const std::lock_guard lock(keys_[key]->mutex);
  keys_[key]->history.cancel(number);
}
Recorder::Number Recorder::expects(std::size_t key, const KeyModel::Input& input, Time earliest) {
  const std::lock_guard lock(keys_[key]->mutex);
  // Nothing ends before it began.
  return keys_[key]->history.expects(input, std::max(earliest, now()));
}
void Recorder::put_off(std::size_t key, Number number, Time earliest) {
  const std::lock_guard lock(keys_[key]->mutex);
  keys_[key]->history.put_off(number, earliest);
}

void Recorder::is_of_version(std::size_t key, std::uint64_t value, std::uint64_t version) {
  const std::lock_guard lock(keys_[key]->mutex);
  auto& versions = keys_[key]->versions;
  const auto [at, is_new] = versions.try_emplace(value, version);
  if (!is_new && at->second != version && keys_[key]->wrong_version.empty()) {
    keys_[key]->wrong_version = concat("value ", value, " is of version ", at->second,
                                       " and of version ", version, ": its write was done twice");
  }
  if (versions.size() > versions_max) versions.erase(versions.begin());
}

std::uint64_t Recorder::checked() const {
  std::uint64_t checked = 0;
  for (const auto& key : keys_) {
    const std::lock_guard lock(key->mutex);
    checked += key->history.checked();
  }
  return checked;
}

Result<Done> Recorder::check() const {
  Result<Done> right = Done{};
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const std::lock_guard lock(keys_[i]->mutex);
    const auto is = keys_[i]->history.verdict();
    const auto wrong = [i](const std::string& why) {
      return Error{Errc::corrupt, concat("key ", i, ": ", why)};
    };
    if (is == History::Is::impossible) return wrong(keys_[i]->history.why());
    if (!keys_[i]->wrong_version.empty()) return wrong(keys_[i]->wrong_version);
    if (is != History::Is::undecided) continue;
    right = Error{Errc::timeout, concat("undecided: the history of key ", i,
                                        " has too many possible orders to try all, as too many "
                                        "operations are without an answer")};
  }
  return right;
}

}  // namespace piracema::testing
