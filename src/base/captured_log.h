#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <string>

#include "base/fd.h"

namespace piracema {

/// For tests: what is written to standard error while it lives; little enough for a pipe.
class CapturedLog {
 public:
  CapturedLog() {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    out_ = Fd(ends[0]);
    const Fd in(ends[1]);
    before_ = Fd(::dup(STDERR_FILENO));
    REQUIRE(::dup2(in.get(), STDERR_FILENO) >= 0);
  }
  std::string end() {
    ::dup2(before_.get(), STDERR_FILENO);
    std::string text(60'000, 0);
    const ssize_t count = ::read(out_.get(), text.data(), text.size());
    text.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    return text;
  }

 private:
  Fd out_, before_;
};

}  // namespace piracema
