#pragma once

#include <piracema/error.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace piracema::cluster {

/// An account of this machine, for programs that are to run as it.
struct Account {
  std::string name, home, shell;
  uid_t uid = 0;
  gid_t gid = 0;
  /// All that it is in, `gid` too.
  std::vector<gid_t> groups;

  /// As the machine knows it now, which may ask a directory service and wait for that. Errc::config
  /// if there is none; Errc::io.
  static Result<Account> find(const std::string& name);
  /// The name of that user, or its number if it has none.
  static std::string name_of(uid_t uid);
};

/// This process has the rights of an account to files and to what else asks for them, as long as
/// this lives; nothing: its own. For processes with one thread that may become anybody; one that
/// cannot, or cannot become itself again, ends.
class RightsOf {
 public:
  explicit RightsOf(const std::optional<Account>& account);
  ~RightsOf();
  RightsOf(const RightsOf&) = delete;
  RightsOf& operator=(const RightsOf&) = delete;

 private:
  const bool is_other_;
  std::vector<gid_t> groups_;
};

}  // namespace piracema::cluster
