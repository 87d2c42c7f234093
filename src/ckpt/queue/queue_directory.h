#pragma once

#include <piracema/error.h>

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"

namespace piracema::ckpt {

/// A job that waits for a lent machine, runs on one, or has ended.
struct QueuedJob {
  std::vector<std::string> command;
  /// "NAME=VALUE": of whoever submitted it.
  std::vector<std::string> environment;
  std::string working_directory;
  /// Of its images and output; empty for a stream, which has its own snapshots.
  std::string directory;
  /// `piracema run --snapshots DIR …`: it saves itself on SIGTERM and ends with 75, and goes on
  /// when `--resume` is among its words.
  bool stream = false;
  /// Its images take less room, on hosts that have zstd.
  bool compress = false;
  /// Its exit status.
  std::optional<int> ended;
};

/// A directory that any number of hosts may share, with a file for each job;
/// docs/formats/checkpoint_image.md. Names grow in the order of submission.
class QueueDirectory {
 public:
  /// Made if need be. Errc::config if it holds anything else, Errc::io.
  static Result<QueueDirectory> open(const std::string& path);
  /// One that is there already: nothing is made. Errc::config if there is none, Errc::io.
  static Result<QueueDirectory> find(const std::string& path);

  const std::string& path() const { return path_; }
  /// What a job's keeper says on this host.
  std::string log_path(const std::string& name) const { return path_ + "/" + name + ".log"; }
  /// Of what daemons remember of streams.
  std::string streams_path() const { return path_ + "/streams"; }
  /// For the daemon of this host: Errc::refused if there is one.
  Result<Fd> lock_for(const std::string& host) const;

  /// The name that it gets. It is there, for good, or there is an error: Errc::io.
  Result<std::string> submit(const QueuedJob& job) const;
  /// In order. Errc::io.
  Result<std::vector<std::string>> names() const;
  /// Errc::not_found, Errc::corrupt, Errc::refused for another version, Errc::io.
  Result<QueuedJob> read(const std::string& name) const;
  Result<Done> write(const std::string& name, const QueuedJob& job) const;
  /// No error if it is not there.
  Result<Done> remove(const std::string& name) const;

 private:
  explicit QueueDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_of(const std::string& name) const { return path_ + "/" + name + ".json"; }

  std::string path_;
};

}  // namespace piracema::ckpt
