#pragma once

#include <fcntl.h>
#include <piracema/error.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/text.h"

namespace piracema {

struct Pipe {
  Fd read, write;
};

/// No process that is started inherits either end by itself. Errc::io, with `what` before it.
inline Result<Pipe> open_pipe(const char* what) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error{Errc::io, with_errno(what)};
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

}  // namespace piracema
