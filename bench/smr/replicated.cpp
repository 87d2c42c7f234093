#include "bench/smr/replicated.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/ensure.h"
#include "bench/smr/cluster.h"
#include "bench/smr/crowd.h"

namespace piracema::bench {

Rate run_replicated(const Workload& workload, const Replicated& how) {
  std::string directory = (std::filesystem::temp_directory_path() / "smr-bench-XXXXXX").string();
  ENSURE(::mkdtemp(directory.data()) != nullptr);
  Rate rate;
  std::size_t errors = 0;
  {
    const SmrCluster cluster({.byzantine = how.byzantine,
                              .clients = how.clients,
                              .directory = directory,
                              .machine = workload.machine,
                              .execution_threads = how.execution_threads,
                              .groups = how.groups,
                              .prices = how.prices});
    Crowd crowd(
        cluster.configuration(),
        {.clients = how.clients, .next = [&, at = 0u]() mutable {
           const std::size_t i = at++ % workload.operations.size();
           return Crowd::Question{smr::Kind::parallel, workload.groups[i], workload.operations[i]};
         }});
    crowd.begin();
    rate = measure(crowd, cluster, how.warmup_s, how.seconds);
    errors = crowd.errors;
  }
  std::filesystem::remove_all(directory);
  if (errors == 0) return rate;
  std::fprintf(stderr, "%zu operations failed\n", errors);
  std::exit(1);
}

}  // namespace piracema::bench
