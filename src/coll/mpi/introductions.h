#pragma once

#include <netinet/in.h>
#include <sched.h>

#include <cstdint>
#include <string>
#include <vector>

#include "coll/figures/figures.h"
#include "coll/mpi/exchange/mpi_types.h"
#include "coll/plan/addresses.h"
#include "coll/plan/waiting.h"

namespace piracema::coll::mpi {

/// What the ranks of a job tell each other first: who is on which host, what each can do, and by
/// which addresses its host is reached.
class Introductions {
 public:
  /// Collective. `address` is that of this rank's socket, to measure links by; its host is not
  /// known yet. `interface`, if it is not empty: the name or address of the only one to be used.
  /// Ends the job with code 3 if there is none such.
  Introductions(MPI_Comm comm, Rank me, Rank size, const std::string& interface,
                const sockaddr_in& address, bool has_socket);

  bool on_one_host() const;
  bool all_have_sockets() const;
  /// MPI_THREAD_MULTIPLE.
  bool all_have_threads() const;
  /// Of this rank's host.
  Waiting waiting() const;
  /// Each host once, by its name, in the order of their lowest ranks.
  void name_hosts(JobFigures& figures) const;
  /// The same at all ranks, and no other job's.
  std::uint64_t token() const { return all_[0].token; }
  /// Collective: where each rank's socket is reached from here.
  std::vector<sockaddr_in> exchange_addresses();

 private:
  struct Hello {
    sockaddr_in address{};
    std::uint64_t token = 0;
    char host[96] = {};
    bool has_socket = false, has_threads = false;
    HostAddress addresses[host_addresses_max];
    cpu_set_t cores;
  };

  bool is_here(const Hello& hello) const;
  in_addr_t own_address() const;

  const MPI_Comm comm_;
  const Rank me_;
  std::vector<Hello> all_;
};

}  // namespace piracema::coll::mpi
