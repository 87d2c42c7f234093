#include "cluster/driver/ending.h"

#include <utility>

namespace piracema::cluster {

namespace {

int exit_code(Errc code) {
  switch (code) {
    case Errc::usage:
      return 2;
    case Errc::failed:
      return 1;
    case Errc::lost:
      return 4;
    default:
      return 3;
  }
}

}  // namespace

void Ending::say(int code, std::string why) {
  if (!finish_) finish_ = Finish{code, std::move(why)};
}

void Ending::say(const Error& error) { say(exit_code(error.code), error.message); }

}  // namespace piracema::cluster
