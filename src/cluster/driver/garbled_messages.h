#pragma once

#include <piracema/error.h>

#include <optional>
#include <string>

#include "base/ids.h"
#include "base/text.h"

namespace piracema::cluster {

/// Messages of workers that nobody can read. Who sends one has our secret and our version, but not
/// our language. Once may be a broken machine, and is a loss as any other; again and again it is
/// another program, and replacing it would never end.
class GarbledMessages {
 public:
  static constexpr int at_most = 3;

  /// One more. The error, Errc::config, once the job cannot go on.
  std::optional<Error> take(Slot worker, const std::string& why) {
    count_ += 1;
    if (count_ < at_most) return std::nullopt;
    return Error{Errc::config, concat("worker ", worker,
                                      " says what no worker of this version says, ", at_most,
                                      " times now: ", why)};
  }

 private:
  int count_ = 0;
};

}  // namespace piracema::cluster
