#pragma once

#include <cstdint>
#include <optional>

#include <piracema/operator.h>

namespace piracema {

/// The numbers from `first` to `last`, both included; none if `last` is less. Replicas share them
/// out in runs of consecutive numbers.
class Sequence {
 public:
  Sequence(std::int64_t first, std::int64_t last) : first_(first), last_(last) {}

  void start(const Context&);

  std::optional<std::int64_t> operator()() {
    if (done_ == count_) return std::nullopt;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(begin_) + done_++);
  }

  double progress() const {
    return count_ == 0 ? 1 : static_cast<double>(done_) / static_cast<double>(count_);
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(done_);
  }

 private:
  std::int64_t first_, last_;
  std::int64_t begin_ = 0;
  std::uint64_t count_ = 0, done_ = 0;
};

}  // namespace piracema
