#pragma once

#include <piracema/graph.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace piracema {

/// How a program runs when it was started by itself. Under `piracema run` its options rule.
struct RunOptions {
  /// Where snapshots go; empty: none are taken. $PIRACEMA_SNAPSHOTS if not set here.
  std::string snapshots;
  /// Time between two barriers.
  std::chrono::milliseconds snapshot_interval{1'000};
  /// A barrier waits behind items for so long; then it overtakes them, and they are saved with the
  /// snapshot, so that this takes no longer where items wait for long. None: it waits as long as
  /// they do.
  std::optional<std::chrono::milliseconds> overtake_after{100};
  /// Neighbours that lead to each other one to one share a thread. It saves the way from one
  /// thread to another, and the work of the two is then done one after the other. $PIRACEMA_FUSE,
  /// `all` or `none`, rules if it is set. What is combined shares a thread in any case.
  bool fuse = false;
  /// Threads of a process for all replicas that it has, at least 1; 0: one for each replica. An
  /// operator that waits for the world or for room does not keep the others from theirs; it is used
  /// by one thread at a time, but not always by the same one. $PIRACEMA_THREADS rules if it is set.
  std::uint32_t threads = 0;
  /// How many bytes may wait at the head of a cycle to be taken back; more is an error. 0: 1 GiB.
  /// $PIRACEMA_CYCLE_BYTES rules if it is set.
  std::uint64_t cycle_bytes = 0;
  /// Where states by key lie, a directory of a local disk, in place of memory: for states that are
  /// larger than that. `state_memory` is what those of one replica take in memory then; 0: 64 MiB.
  /// Empty: in memory. Wants RocksDB. $PIRACEMA_STATE_DIRECTORY and $PIRACEMA_STATE_MEMORY rule if
  /// they are set.
  std::string state_directory;
  std::uint64_t state_memory = 0;
  /// Go on from the newest snapshot instead of starting anew.
  bool resume = false;
  /// Go on even from a snapshot in which the state of an operator has another layout than in this
  /// program: its `serialize` knows how to read it.
  bool allow_changed_state = false;
  /// Go on even from a snapshot of another version of the program: operators that have the same
  /// names go on with their states, others begin without one. It is said which.
  bool allow_changed_program = false;
  /// With that: operators of the snapshot that are not in this program, and whose states may be
  /// lost with them.
  std::vector<std::string> drop_operators;
  /// Shows the job to browsers, Prometheus and scripts at this address: "127.0.0.1:8080", a port of
  /// loopback, or "on", which is any port; said at the start. Empty: nobody is served. Wants
  /// libmicrohttpd. $PIRACEMA_HTTP rules if it is set.
  std::string http;
  /// File with the token that is wanted beyond loopback, for its owner alone. $PIRACEMA_HTTP_TOKEN
  /// rules if it is set.
  std::string http_token;
  /// Refuse a program that has state which is not saved (exit code 3), instead of saying so.
  bool strict = false;
};

/// Runs a program to its end and returns the exit code for `main`: 0 done, 1 an operator failed,
/// 3 the graph or the environment is wrong, 4 data is lost, 75 stopped with a snapshot. What went
/// wrong has then been said on standard error.
///
/// Started by itself the program is one process. Under `piracema run`
/// it is one of several, and runs the replicas that it is given. Call it once, from `main`.
int run(const Graph& graph, const RunOptions& options = {});

}  // namespace piracema
