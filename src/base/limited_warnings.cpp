#include "base/limited_warnings.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace piracema {

void LimitedWarnings::refill(Time now) {
  if (left_ == at_once) filled_ = now;
  const auto more = (now - filled_) / each;
  left_ = static_cast<std::uint32_t>(std::min<std::int64_t>(left_ + more, at_once));
  filled_ += more * each;
}

std::optional<std::string> LimitedWarnings::add(Time now, std::string text) {
  refill(now);
  if (left_ == 0) {
    counted_ += 1;
    last_ = std::move(text);
    return std::nullopt;
  }
  left_ -= 1;
  const std::uint64_t counted = std::exchange(counted_, 0);
  return counted == 0 ? text : concat(text, " (and ", counted, " more before it)");
}

std::optional<std::string> LimitedWarnings::late(Time now) {
  refill(now);
  if (counted_ == 0 || left_ == 0) return std::nullopt;
  left_ -= 1;
  return rest();
}

std::optional<std::string> LimitedWarnings::rest() {
  const std::uint64_t counted = std::exchange(counted_, 0);
  if (counted == 0) return std::nullopt;
  return counted == 1 ? last_ : concat(last_, " (and ", counted - 1, " more before it)");
}

}  // namespace piracema
