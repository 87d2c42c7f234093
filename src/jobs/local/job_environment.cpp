#include "jobs/local/job_environment.h"

#include <cstdlib>

#include "base/text.h"
#include "host/mpi_hosts.h"
#include "os/process.h"

namespace piracema::jobs {

namespace {

/// What somebody who has logged in there would have, and nothing that the node itself was given:
/// that may be secret.
std::vector<std::string> login_environment(const cluster::Account& account) {
  const char* const path = std::getenv("PATH");
  std::vector<std::string> environment{
      concat("HOME=", account.home), concat("USER=", account.name),
      concat("LOGNAME=", account.name), concat("SHELL=", account.shell),
      concat("PATH=", path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin")};
  for (const char* const name : {"LANG", "LC_ALL", "TZ"}) {
    if (const char* const value = std::getenv(name)) {
      environment.push_back(concat(name, "=", value));
    }
  }
  return environment;
}

}  // namespace

// A stream reads where its hosts are, and how it gets there, from its environment.
std::vector<std::string> JobEnvironment::of(const JobRunner::Launch& launch,
                                            const std::optional<cluster::Account>& account,
                                            const std::string& hostfile) const {
  const Attempt& attempt = launch.attempt;
  std::vector<std::string> environment;
  if (account) environment = login_environment(*account);
  if (!launch.hosts.empty() && attempt.part == 0) {
    std::string hosts;
    for (const HostOfOrder& host : launch.hosts) {
      hosts += concat(hosts.empty() ? "" : ",", host.name, "=", host.address);
    }
    environment.push_back(concat("PIRACEMA_HOSTS=", hosts));
    environment.push_back(concat("PIRACEMA_WORKERS=", launch.hosts.size() * launch.spec.slots));
    for (std::string& one : cluster::MpiHosts::environment(files_.mpi_of(attempt))) {
      environment.push_back(std::move(one));
    }
    // A daemon that leaves its remote shell would be taken for one that has ended.
    for (const char* one :
         {"OMPI_MCA_orte_leave_session_attached=1", "PRTE_MCA_prte_leave_session_attached=1"}) {
      environment.emplace_back(one);
    }
  }
  if (!hostfile.empty()) environment.push_back(concat("PIRACEMA_HOSTFILE=", hostfile));
  for (const std::string& own : launch.spec.environment) cluster::set_variable(environment, own);
  if (!launch.hosts.empty() || attempt.part != 0) {
    environment.push_back(concat("PIRACEMA_RSH=", node_.rsh));
  }
  if (launch.joins) environment.emplace_back("PIRACEMA_JOIN=true");
  environment.push_back(concat("PIRACEMA_NODE=", node_.name));
  environment.push_back(concat("PIRACEMA_NODE_DOOR=", files_.door()));
  environment.push_back(concat("PIRACEMA_JOB=", attempt.job));
  environment.push_back(concat("PIRACEMA_ATTEMPT=", attempt.attempt));
  environment.push_back(concat("PIRACEMA_JOB_DIRECTORY=", files_.place_of(attempt.job)));
  if (attempt.part == 0 || is_beside(attempt)) {
    environment.push_back(concat("PIRACEMA_HTTP_FILE=", files_.address_file_of(attempt)));
  }
  return environment;
}

}  // namespace piracema::jobs
