#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "store/disk/disk.h"
#include "store/log/log_group.h"

namespace piracema::store {

struct LogSettings {
  /// Whose log it is, as a number that no other log in this place has had.
  std::uint64_t owner = 0;
  /// Of one file. What is truncated is freed by whole files.
  std::uint64_t segment_bytes = std::uint64_t{16} << 20;
  /// Written with zeros ahead of the records, so that most syncs find the blocks of the file in
  /// place and need not wait for the file system's own log. 0 for none.
  std::uint64_t ahead_bytes = std::uint64_t{512} << 10;
};

/// What was found when a log was opened.
struct LogCondition {
  /// For people: what was cut off at its end, as a crash may leave it; empty if nothing was.
  std::string cut;
  /// The first record that was kept, and the one after the last.
  LogSequence first = 1, next = 1;
};

/// A write-ahead log: records in files of a Disk, each with a checksum and its number. What was
/// committed is there after a crash, in order, or the loss is noticed. One thread at a time.
///
/// A crash can only harm the records of the last commit, which had not returned: they are cut off.
/// Damage anywhere else is told apart from that, because each record also says how far the log was
/// durable when it was written (an idea of Alagappan et al., FAST 2018). One case remains: damage
/// to the last commit itself which comes with a loss of power, before `settle` or another commit.
///
/// After the first error of a write or sync the log is dead: every later `commit` gives that error.
class LogFile {
 public:
  using Visit = std::function<Result<Done>(LogSequence, Bytes body)>;

  /// Reads all records that are still needed, in order, then cuts off what a crash has left. An
  /// error of `visit` ends it. Nothing is visited if the log is damaged. No log is an empty log.
  ///
  /// Errc::corrupt names the file, the place and why it is no crash's doing: records are lost that
  /// were durable. Errc::refused for another's log or version. Errc::io.
  static Result<std::unique_ptr<LogFile>> open(Disk& disk, const LogSettings& settings,
                                               const Visit& visit);
  /// Use `open`.
  LogFile(Disk& disk, const LogSettings& settings) : disk_(disk), settings_(settings) {}

  const LogCondition& condition() const { return condition_; }

  /// Writes the group's records with one sync (two or three where a new file begins). When it
  /// returns without an error they are durable: the number of the last one. The group is empty
  /// then. `idle`: nothing else is to come soon, so mark the end.
  Result<LogSequence> commit(LogGroup& group, bool idle = true);
  /// Makes a mark behind the last commit durable, too. For when nothing has come for a while.
  Result<Done> settle();

  /// Nobody will ask for what is before `floor`: with the next commit or `settle`, files that hold
  /// nothing else are removed. Never goes back.
  void truncate(LogSequence floor);

  /// The number that the next record gets.
  LogSequence next() const { return next_; }

  /// Removes every file that looks like a log's, whatever it holds.
  static Result<Done> erase(Disk& disk);

 private:
  Result<Done> recover(const Visit& visit);
  Result<Done> write_group(LogGroup& group);
  Result<Done> begin_segment(std::size_t record_bytes);
  Result<Done> write_run(Bytes run);
  Result<Done> write_ahead();
  Result<Done> mark_end();
  Result<Done> sync();
  Result<Done> drop_segments();
  Error died(const Error& error);

  Disk& disk_;
  const LogSettings settings_;
  LogCondition condition_;
  /// By first sequence: those that exist. The last one is open in `file_`.
  std::map<LogSequence, std::string> segments_;
  std::unique_ptr<DiskFile> file_;
  /// In `file_`: where the next record goes, and up to where zeros were written.
  std::uint64_t end_ = 0, ahead_ = 0;
  LogSequence next_ = 1, durable_ = 1;
  /// What records say, and what `truncate` asked for: a floor is durable before it is used.
  LogSequence floor_ = 1, wanted_floor_ = 1;
  /// A file was made whose name is not durable.
  bool new_names_ = false;
  std::string dead_;
  Buffer zeros_;
};

}  // namespace piracema::store
