#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <piracema/detail/own_fd.h>
#include <piracema/operator.h>

namespace piracema::detail {

/// A file that is written from front to back in transactions.
///
/// Until `finish` it is `PATH.partial`, so that nobody takes half of an output for a whole one,
/// and a job that begins again knows its own file from the user's. Its state is the length that
/// `prepare` made durable; a restored file is cut to that. It belongs to one process at a time, by a
/// lock on the file: that of another job is an error. Everything that fails (a full disk, an
/// output that exists) throws std::runtime_error naming the file and the reason.
class OutputFile {
 public:
  OutputFile(std::string path, bool overwrite) : path_(std::move(path)), overwrite_(overwrite) {}

  /// Opens the file, after `serialize` has restored a state or for the first time. A replica of
  /// several writes to PATH.0, PATH.1, …
  void start(const Context&);

  void append(const char* from, std::size_t count);

  /// Makes what was appended durable: it survives the machine.
  void prepare();

  /// Makes all of it durable, under its own name. Does nothing the second time.
  void finish();

  /// Bytes appended so far, what was restored included.
  std::uint64_t length() const { return written_ + buffer_.size(); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(begun_, finished_, durable_);
  }

 private:
  std::string partial() const { return path_ + ".partial"; }
  void create(const Context& context);
  void remove_left();
  bool hold();
  void reopen(bool previous_may_live);
  void take_over();
  void flush();

  std::string path_;
  bool overwrite_ = false;
  OwnFd fd_;
  /// Nobody of this job had it before.
  bool begins_job_ = false;
  bool begun_ = false;
  bool finished_ = false;
  /// Bytes that `prepare` has made durable.
  std::uint64_t durable_ = 0;
  /// Bytes that the file has; more are in `buffer_`.
  std::uint64_t written_ = 0;
  std::string buffer_;
};

}  // namespace piracema::detail
