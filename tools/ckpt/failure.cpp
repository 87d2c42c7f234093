#include "tools/ckpt/failure.h"

#include "base/log.h"

namespace piracema::tools {

int fail_ckpt(const Error& error) {
  log(Level::error, error.message);
  switch (error.code) {
    case Errc::usage:
      return 2;
    case Errc::lost:
      return 4;
    case Errc::failed:
      return 1;
    default:
      return 3;
  }
}

}  // namespace piracema::tools
