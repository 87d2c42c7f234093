#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jobs/protocol/job.h"
#include "jobs/protocol/operations.h"
#include "os/account.h"

namespace piracema::jobs {

/// Where a node keeps what its jobs leave behind, below its own directory.
class JobFiles {
 public:
  explicit JobFiles(std::string directory) : directory_(std::move(directory)) {}

  /// Makes the place for all of them. With `for_others`, other accounts may go through it to what
  /// is theirs, and see no list of it. Errc::io.
  Result<Done> prepare(bool for_others) const;
  /// There is room for so many bytes. Where that cannot be found out there is.
  bool has_room(std::uint64_t bytes) const;
  /// Makes the job's own directory, for that account alone; null: for the node's. Errc::io.
  Result<Done> make(JobId job, const cluster::Account* account) const;

  /// Where it runs, unless it says another place.
  std::string place_of(JobId job) const;
  /// What it has written.
  std::string log_of(const Attempt& attempt) const;
  /// Its nodes, for what follows them.
  std::string hostfile_of(const Attempt& attempt) const;
  /// What MPI's launchers read, for a command on several nodes; outside of its place, in which
  /// others than the node may write.
  std::string mpi_of(const Attempt& attempt) const;
  /// Where a stream is shown by HTTP, for what is run beside it; in its place, so that it can write
  /// there.
  std::string address_file_of(const Attempt& attempt) const;
  /// Where its processes ask for parts.
  std::string door() const { return directory_ + "/parts"; }

  /// Whoever reads it sees the file before or this one. What cannot be written the command does not
  /// hear of: it goes on with the nodes that it knows.
  static void write_hosts(const std::string& file, const std::vector<HostOfOrder>& hosts,
                          std::uint32_t slots);

 private:
  std::string beside_place(const Attempt& attempt, const char* ending) const;

  std::string directory_;
};

/// What a job has written, as far as it was read.
class JobLog {
 public:
  explicit JobLog(std::string file) : file_(std::move(file)) {}

  struct Piece {
    /// So many bytes come before it.
    std::uint64_t from = 0;
    std::string text;
  };
  /// What is new, the last 16 KiB of it; nothing: there is none.
  std::optional<Piece> next();
  /// At most so many bytes of its end.
  std::string last_words(std::size_t most) const;
  void remove() const;

 private:
  std::string file_;
  std::uint64_t read_ = 0;
};

}  // namespace piracema::jobs
