#include <fcntl.h>
#include <piracema/pipe.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "base/log.h"
#include "base/text.h"
#include "connect/streams/live.h"

namespace piracema {

namespace {

constexpr std::size_t pipe_piece_bytes = std::size_t{64} << 10;

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

std::string PipeLines::name() const {
  return path_ == "-" ? "standard input" : concat("pipe '", path_, "'");
}

void PipeLines::start(const Context& context) {
  detail::check_live(name(), context, options_, begun_ || !context.begins_job);
  if (path_ == "-" && is_set("PIRACEMA_SLOT") && !is_set("PIRACEMA_STDIN")) {
    throw std::runtime_error(
        "standard input: want it handed on by `piracema run --stdin`, found a process without");
  }
  // Without O_NONBLOCK a pipe would wait here for somebody to write to it.
  pipe_ = detail::OwnFd(path_ == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                     : ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!pipe_) throw std::runtime_error(with_errno(concat(name(), ": cannot be opened")));
  struct stat status {};
  if (::fstat(pipe_.get(), &status) != 0) {
    throw std::runtime_error(with_errno(concat(name(), ": cannot be looked at")));
  }
  if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) {
    throw std::runtime_error(
        concat(name(), ": want a pipe, found a ",
               S_ISREG(status.st_mode) ? "file: FileLines reads it" : "directory"));
  }
  if (journal_.is_wanted()) journal_.open(context.begins_job, position_);
  begun_ = true;
  readiness_.start(pipe_.get(), context.wake);
}

Poll<std::string> PipeLines::operator()() {
  for (;;) {
    const std::size_t newline = buffer_.find('\n', searched_);
    const bool whole = newline != std::string::npos;
    const std::size_t end = whole ? newline : buffer_.size();
    if (end - line_ > options_.item_bytes_max) {
      throw std::runtime_error(concat(name(), ": the line at byte ", position_, ": want at most ",
                                      options_.item_bytes_max, " bytes, found more"));
    }
    searched_ = end;
    if (whole || (ended_ && end != line_)) {
      std::string line = buffer_.substr(line_, end - line_);
      position_ += line.size() + (whole ? 1 : 0);
      line_ = searched_ = end + (whole ? 1 : 0);
      return line;
    }
    switch (more()) {
      case More::some:
        break;
      case More::nothing_yet:
        readiness_.ask();
        return Poll<std::string>::nothing_yet();
      case More::end:
        if (line_ == buffer_.size()) return Poll<std::string>::end();
        ended_ = true;
    }
  }
}

// First what a recovery needs again, then what comes.
PipeLines::More PipeLines::more() {
  if (ended_) return More::end;
  buffer_.erase(0, line_);
  searched_ -= line_;
  line_ = 0;
  if (!journal_.is_wanted()) return take();
  const std::uint64_t at = position_ + buffer_.size();
  if (at == journal_.length()) {
    if (journal_.has_ended()) return More::end;
    const More taken = take();
    if (taken == More::end) journal_.end();
    if (taken != More::some) return taken;
  }
  const std::size_t before = buffer_.size();
  const std::uint64_t left = journal_.length() - at;
  buffer_.resize(before +
                 static_cast<std::size_t>(std::min<std::uint64_t>(pipe_piece_bytes, left)));
  const std::size_t got = journal_.read(at, buffer_.data() + before, buffer_.size() - before);
  buffer_.resize(before + got);
  return More::some;
}

// Into the journal, or else into `buffer_`.
PipeLines::More PipeLines::take() {
  if (journal_.is_wanted() && by_splice_) {
    const auto moved = journal_.take(pipe_.get(), pipe_piece_bytes);
    if (moved > 0) return More::some;
    if (moved == 0) {
      // A named pipe that nobody has opened yet looks as if it had ended.
      pollfd state{pipe_.get(), POLLIN, 0};
      return ::poll(&state, 1, 0) > 0 && (state.revents & POLLHUP) != 0 ? More::end
                                                                        : More::nothing_yet;
    }
    if (errno == EAGAIN) return More::nothing_yet;
    by_splice_ = false;  // A terminal, a socket.
  }
  // The descriptor may be shared with others, so that it is not made one that never waits.
  pollfd state{pipe_.get(), POLLIN, 0};
  if (::poll(&state, 1, 0) <= 0) return More::nothing_yet;
  char bytes[pipe_piece_bytes];
  const ssize_t got = ::read(pipe_.get(), bytes, sizeof bytes);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return More::nothing_yet;
  if (got < 0) throw std::runtime_error(with_errno(concat(name(), ": cannot be read")));
  if (got == 0) return More::end;
  if (journal_.is_wanted()) {
    journal_.append(bytes, static_cast<std::size_t>(got));
  } else {
    buffer_.append(bytes, static_cast<std::size_t>(got));
  }
  return More::some;
}

}  // namespace piracema
