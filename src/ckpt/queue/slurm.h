#pragma once

#include <ctime>
#include <string>
#include <string_view>

/// What Slurm tells of a job, and what its signals mean. Pure.
namespace piracema::ckpt {

/// From `scontrol show job ID -o`; times are seconds since 1970, 0 where there is none.
struct SlurmJob {
  std::string state;
  std::time_t ends = 0, preempted = 0;
};
SlurmJob parse_slurm_job(const std::string& text);

/// The value of `NAME=value` among words that blanks part; empty if it is not there.
std::string slurm_value(std::string_view text, std::string_view name);

/// Whether the signal that was asked for so many seconds before a job's end means that somebody
/// else wants the machine. It comes up to half a minute before that time or after it (measured), so
/// it is the clock that tells it from the job's own end, of which the keeper knows anyway. `was` is
/// the job when it began, `is` as it is now: one that is preempted ends earlier.
bool means_preemption(const SlurmJob& was, const SlurmJob& is, std::time_t now,
                      int warning_seconds);

/// A job that was stopped with an image is put into the queue again unless somebody has cancelled
/// it, or Slurm does so itself.
bool is_to_be_requeued(const SlurmJob& job);

}  // namespace piracema::ckpt
