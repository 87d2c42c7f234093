#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <piracema/detail/journal.h>
#include <piracema/detail/own_fd.h>
#include <piracema/detail/readiness.h>
#include <piracema/operator.h>
#include <piracema/poll.h>

namespace piracema {

/// What a source does with input that cannot be read a second time: of a pipe, of a socket.
struct LiveOptions {
  /// A file that all input is written to before it becomes items: recoveries and `--resume` take
  /// from there what they need again. It grows as long as the job runs; a job that begins anew
  /// begins it anew. It is on the host of the source, or on a directory that all hosts see.
  std::string journal{};
  /// Without a journal a recovery is an error, as what was read since the snapshot is gone. With
  /// this it is a warning instead, and the source goes on with what comes next.
  bool may_lose = false;
  /// A longer item is an error of whoever sends it.
  std::size_t item_bytes_max = std::size_t{16} << 20;
};

/// The lines of a pipe, without their '\n', as they come; "-" is standard input. What follows the
/// last '\n' when the pipe has ended is a line unless it is empty. One replica.
///
/// With a journal every line counts once, whatever happens to the process, as long as somebody
/// else holds the pipe open meanwhile: `piracema run --stdin` does so for standard input. A named
/// pipe that nobody reads for a moment ends its writer.
class PipeLines {
 public:
  explicit PipeLines(std::string path = "-", LiveOptions options = {})
      : path_(std::move(path)), options_(std::move(options)), journal_(options_.journal) {}

  void start(const Context&);
  Poll<std::string> operator()();

  template <class Archive>
  void serialize(Archive& archive) {
    journal_.sync();
    archive(begun_, position_);
  }

 private:
  enum class More { some, nothing_yet, end };
  More more();
  More take();
  std::string name() const;

  std::string path_;
  LiveOptions options_;
  detail::Journal journal_;
  detail::OwnFd pipe_;
  detail::Readiness readiness_;
  /// It has been begun by a job that this one goes on with.
  bool begun_ = false;
  /// Where the next line begins, in all that has come.
  std::uint64_t position_ = 0;
  /// What has come from there on.
  std::string buffer_;
  /// Of `buffer_`: where the line begins, and up to where there is no '\n'.
  std::size_t line_ = 0, searched_ = 0;
  bool ended_ = false;
  bool by_splice_ = true;
};

}  // namespace piracema
