#pragma once

#include <piracema/error.h>

#include <CLI/App.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "jobs/protocol/operations.h"

namespace piracema::smr {
class Administrator;
class Client;
}  // namespace piracema::smr

namespace piracema::tools {

/// --cluster and --timeout of a command that asks a cluster as one of its users; `more` are other
/// files that it wants there.
void add_cluster_options(CLI::App& command, std::string& directory, std::string& timeout,
                         const char* more = "");

/// Whoever admits and dismisses keys: `directory` is that of the cluster, with administrator.key.
/// Errors of both files.
Result<std::unique_ptr<smr::Administrator>> open_administrator(const std::string& directory,
                                                               std::chrono::milliseconds timeout);

/// A user of a cluster, as a client of the control plane of a cluster.
class ClusterClient {
 public:
  /// `directory` is a UserHome; empty is Errc::usage. Else the errors of its files.
  static Result<ClusterClient> open(const std::string& directory,
                                    std::chrono::milliseconds timeout);
  ClusterClient(ClusterClient&&) noexcept;
  ~ClusterClient();

  /// Errc::refused says what the cluster does not want; Errc::timeout.
  Result<jobs::Answer> ask(const jobs::Operation& operation);
  /// Errc::refused if there is no such job.
  Result<jobs::Job> show(jobs::JobId id);
  /// Of a question that is held until there is news; after some seconds perhaps an answer whose
  /// mark is 0.
  Result<jobs::Answer> await(const jobs::Operation& question);

 private:
  explicit ClusterClient(std::unique_ptr<smr::Client> client);
  static Result<jobs::Answer> read(Result<Buffer> reply);
  std::unique_ptr<smr::Client> client_;
};

}  // namespace piracema::tools
