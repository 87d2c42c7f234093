#pragma once

#include <piracema/error.h>

#include <string>
#include <vector>

#include "ckpt/keeper/keeper_loop.h"
#include "ckpt/queue/slurm.h"

/// `piracema ckpt sbatch`, and what it has Slurm run.
namespace piracema::tools {

/// Seconds before a job's end at which Slurm is asked for a signal; it comes at once to who is
/// preempted.
constexpr int slurm_warning_seconds = 60;

/// Submits a job that runs the program under `ckpt slurm`, and prints what sbatch says: the exit
/// code. `options` are sbatch's; `own` are words for `ckpt slurm`.
int submit(const std::string& directory, const std::vector<std::string>& options,
           const std::vector<std::string>& own, const std::vector<std::string>& program);

/// The job of Slurm that this process is in.
class SlurmPlace {
 public:
  /// Errc::config if it is in none, or Slurm does not answer.
  static Result<SlurmPlace> find();

  /// One window, until the job's end; preemption stops the program with an image.
  void apply(ckpt::RunSettings& settings) const;
  /// As for --hosts and --rsh: the nodes of the job; empty if it has one alone.
  const std::string& hosts() const { return hosts_; }
  static std::string rsh() { return "srun --nodes=1 --ntasks=1 --overlap --export=ALL --nodelist"; }

  /// A job that was stopped with an image goes on later: the exit code.
  int after(int code) const;

 private:
  std::string id_, hosts_;
  ckpt::SlurmJob job_;
};

}  // namespace piracema::tools
