#include "tools/failure.h"

#include "base/log.h"

namespace piracema::tools {

int fail(const Error& error) {
  log(Level::error, error.message);
  return error.code == Errc::usage ? 2 : 3;
}

int fail_asked(const Error& error) {
  const int code = fail(error);
  switch (error.code) {
    case Errc::timeout:
    case Errc::refused:
    case Errc::failed:
      return 1;
    default:
      return code;
  }
}

}  // namespace piracema::tools
