#pragma once

#include <piracema/error.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "net/session/call.h"

namespace piracema::cluster {

/// What `piracema run` tells the processes that it starts, in variables of their environment.
struct WorkerEnvironment {
  /// PIRACEMA_COORDINATOR: "127.0.0.1:4711"; several with commas, to be tried in turn.
  std::vector<std::string> coordinators;
  /// PIRACEMA_COORDINATOR_WAIT_MS: how long another one is looked for when it is lost; 0: the
  /// process ends at once, as there is nobody to come back.
  std::chrono::milliseconds coordinator_wait{0};
  /// PIRACEMA_COORDINATOR_FILE: says where that other one is (host/coordinator_file.h); empty:
  /// where the first one was.
  std::string coordinator_file;
  /// PIRACEMA_SLOT, PIRACEMA_INCARNATION.
  Slot slot = 0;
  std::uint32_t incarnation = 0;
  /// PIRACEMA_TOKEN: 32 hexadecimal digits, the secret of the job.
  std::string token;
  /// PIRACEMA_SNAPSHOTS: as `store::open_store` has it; empty: no snapshots.
  std::string snapshots;
  /// PIRACEMA_MARK: a file that this host has to see (DirectoryMark); empty: none.
  std::string mark;
  /// PIRACEMA_HEARTBEAT_MS.
  std::chrono::milliseconds heartbeat{250};
  /// PIRACEMA_AT_WORK_FD: shared memory, see AtWork; -1: none.
  int at_work_fd = -1;
  /// PIRACEMA_TRANSPORT: between processes of one host "shm", "tcp", or "auto", shared memory where
  /// it can be had.
  net::SharedMemory shared_memory = net::SharedMemory::allowed;
  /// The transport is "mpi": PIRACEMA_INCARNATIONS has one for each rank, and the slot is the rank.
  bool by_mpi = false;
  std::vector<std::uint32_t> incarnations;
  /// PIRACEMA_PLAIN: "true": what goes to workers of other hosts is not sealed.
  bool plain = false;
  /// PIRACEMA_PEERS: "1:tcp,3:shm": how to talk to single peers, beside the transport.
  std::map<Slot, net::SharedMemory> peers;
  /// PIRACEMA_LISTEN: "127.0.0.1:4711", where peers come; "facing": any port of the address from
  /// which the coordinator is reached; any port of loopback if it is empty.
  std::string listen;
  /// PIRACEMA_BATCH: items in a batch; 0: as fits the load.
  std::uint32_t batch_items = 0;
  /// PIRACEMA_BATCHES: "2:32,3:1": the same of batches to the replicas of a process.
  std::map<Slot, std::uint32_t> batches;
  /// PIRACEMA_ON_THE_WAY: "0:64,2:1": how many batches may be on their way over a channel from the
  /// replicas of a process, this one included.
  std::map<Slot, std::uint32_t> on_the_way;
  /// PIRACEMA_PLACE: "1/4": which of the processes of this host it is, the first one being 0, and
  /// of how many; 0 of 0: nobody said. PIRACEMA_TOPOLOGY: where the kernel tells of memory nodes,
  /// or "none" if they do not matter.
  std::size_t place = 0, places = 0;
  std::string topology;
  /// PIRACEMA_CORES: "0,2": cores that threads may use; none: those that are near each other.
  std::vector<std::uint32_t> cores;
  /// As in RunOptions.
  std::uint32_t threads = 0;
  std::uint64_t cycle_bytes = 0;
  std::string state_directory;
  std::uint64_t state_memory = 0;
  /// PIRACEMA_DEAD_LETTERS: a file; empty: none.
  std::string dead_letters;
};

/// nullopt when the process was not started as a worker. Errc::config for values that make none.
Result<std::optional<WorkerEnvironment>> worker_environment();

}  // namespace piracema::cluster
