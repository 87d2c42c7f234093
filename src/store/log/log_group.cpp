#include "store/log/log_group.h"

#include <cstring>

#include "base/ensure.h"

namespace piracema::store {

Buffer& LogGroup::begin() {
  ENSURE(!open_);
  open_ = true;
  begun_at_ = bytes_.size();
  bytes_.extend(record_header_bytes);
  return bytes_;
}

// Only the length and the padding are known yet; the rest of the header is written at the commit.
void LogGroup::end() {
  ENSURE(open_);
  open_ = false;
  const std::size_t body = bytes_.size() - begun_at_ - record_header_bytes;
  ENSURE(body <= record_bytes_max);
  const std::size_t padding = record_room(body) - record_header_bytes - body;
  std::memset(bytes_.extend(padding), 0, padding);
  const auto length = static_cast<std::uint32_t>(body);
  std::memcpy(bytes_.data() + begun_at_, &length, sizeof length);
  records_ += 1;
}

void LogGroup::add(Bytes body) {
  begin().append(body.data(), body.size());
  end();
}

void LogGroup::clear() {
  ENSURE(!open_);
  bytes_.clear();
  records_ = 0;
}

}  // namespace piracema::store
