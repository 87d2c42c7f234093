#pragma once

#include <piracema/error.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "net/socket/address.h"

namespace piracema::jobs {

/// Where a stream of this machine is shown by HTTP, and the token that it wants.
struct StreamAddress {
  /// Of loopback: the node calls nobody else, whatever the job's user has written.
  net::Address where;
  std::string token;

  /// Of "http://127.0.0.1:41871/?token=…"; one that listens everywhere is reached by loopback, too.
  /// Errc::config says what is wrong.
  static Result<StreamAddress> parse(std::string_view line);
  /// Of a file (JobFiles::address_file_of) that lies where the job's user may put anything: it has
  /// to be a file of that user, in the job's own directory, and no link. Nothing: there is none.
  /// Errc::config, Errc::io.
  static Result<std::optional<StreamAddress>> read(const std::string& file, uid_t user);
};

}  // namespace piracema::jobs
