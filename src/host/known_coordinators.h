#pragma once

#include <string>
#include <vector>

namespace piracema::cluster {

/// Where a process that has lost its coordinator looks for the next one. What it hears last counts:
/// coordinators come while a job runs. The file of the job counts more, where it is seen, as it
/// also says that the job is over. Belongs to one thread.
class KnownCoordinators {
 public:
  /// `token` is the key of the job, `addresses` what the process was started with, `file` may be
  /// empty (host/coordinator_file.h).
  KnownCoordinators(std::string token, std::vector<std::string> addresses, std::string file = {});

  const std::string& token() const { return token_; }
  void look_in(std::string file) { file_ = std::move(file); }
  /// By the coordinator that there is. None, or what is no address: it said nothing.
  void told(const std::vector<std::string>& addresses);
  /// As it was told last.
  const std::vector<std::string>& addresses() const { return addresses_; }
  /// At most `addresses_max`; none: there will be no other.
  std::vector<std::string> find() const;

 private:
  const std::string token_;
  std::vector<std::string> addresses_;
  std::string file_;
};

}  // namespace piracema::cluster
