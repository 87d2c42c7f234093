#include "tools/failure.h"

#include "base/log.h"

namespace piracema::tools {

int fail(const Error& error) {
  log(Level::error, error.message);
  return error.code == Errc::usage ? 2 : 3;
}

int fail_asked(const Error& error) {
  const int code = fail(error);
  return error.code == Errc::timeout || error.code == Errc::refused ? 1 : code;
}

}  // namespace piracema::tools
