#include "host/mpi_hosts.h"

#include <sys/stat.h>

#include <string_view>
#include <utility>

#include "base/text.h"
#include "store/disk/files.h"

namespace piracema::cluster {

Result<Done> MpiHosts::write(const std::string& folder) const {
  std::string open_mpi, mpich;
  for (const Host& host : hosts) {
    open_mpi += concat(host.name, " slots=", host.slots, "\n");
    mpich += concat(host.name, ":", host.slots, "\n");
  }
  // MPICH has an option for ssh before the host.
  const std::string shell =
      concat("#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done\nexec ", rsh, " \"$@\"\n");
  using File = std::pair<std::string_view, std::string_view>;
  for (const auto& [name, text] :
       {File("hosts.openmpi", open_mpi), File("hosts.mpich", mpich), File("rsh", shell)}) {
    const std::string path = concat(folder, "/", name);
    const Bytes piece = as_bytes(text);
    if (auto done = store::replace_file(path, {&piece, 1}); !done) return done;
    ::chmod(path.c_str(), 0755);
  }
  return Done{};
}

std::vector<std::string> MpiHosts::environment(const std::string& folder) {
  // None of them is to ask a scheduler that we run under.
  std::vector<std::string> all{"OMPI_MCA_plm=rsh",    "OMPI_MCA_ras=^slurm", "PRTE_MCA_plm=ssh",
                               "PRTE_MCA_ras=^slurm", "HYDRA_LAUNCHER=ssh",  "HYDRA_RMK=user"};
  for (const char* name :
       {"OMPI_MCA_plm_rsh_agent=", "PRTE_MCA_plm_ssh_agent=", "HYDRA_LAUNCHER_EXEC="}) {
    all.push_back(concat(name, folder, "/rsh"));
  }
  for (const char* name : {"OMPI_MCA_orte_default_hostfile=", "PRTE_MCA_prte_default_hostfile="}) {
    all.push_back(concat(name, folder, "/hosts.openmpi"));
  }
  all.push_back(concat("HYDRA_HOST_FILE=", folder, "/hosts.mpich"));
  return all;
}

}  // namespace piracema::cluster
