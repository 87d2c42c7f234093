#pragma once

#include <cstddef>

#include "store/log/log_format.h"

namespace piracema::store {

/// Records that are gathered for one sync, in the bytes in which they will be written: a record is
/// encoded once, straight into its place. Keeps its memory. One thread at a time; it may be filled
/// by one and committed by another.
class LogGroup {
 public:
  /// Where the next record's body is to be appended; nothing that is there already may change.
  /// `end` closes it, before anything else is done with the group. At most record_bytes_max.
  Buffer& begin();
  void end();
  /// Both, for a body that is somewhere else.
  void add(Bytes body);

  std::size_t records() const { return records_; }
  bool empty() const { return records_ == 0; }
  /// As they will lie in the file.
  std::size_t bytes() const { return bytes_.size(); }
  void clear();

 private:
  friend class LogFile;

  Buffer bytes_;
  std::size_t begun_at_ = 0, records_ = 0;
  bool open_ = false;
};

}  // namespace piracema::store
