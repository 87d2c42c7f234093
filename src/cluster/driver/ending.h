#pragma once

#include <piracema/error.h>

#include <optional>
#include <string>

#include "control/coordinator_actions.h"

namespace piracema::cluster {

/// How a job ends, once that is known: what is said first counts.
class Ending {
 public:
  /// `code` is that of the command.
  void say(int code, std::string why);
  /// With the code that such an error has.
  void say(const Error& error);

  bool is_known() const { return finish_.has_value(); }
  /// When it is known.
  const Finish& finish() const { return *finish_; }

 private:
  std::optional<Finish> finish_;
};

}  // namespace piracema::cluster
