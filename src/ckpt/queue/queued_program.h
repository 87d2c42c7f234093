#pragma once

#include <piracema/error.h>

#include <optional>
#include <string>

#include "base/clock.h"
#include "ckpt/queue/queue_directory.h"
#include "os/own_process.h"

/// What is run for a job of a queue.
namespace piracema::ckpt {

/// Whether this host could begin it, by the PATH and the working directory that it has.
/// Errc::config with the program and what is wrong with it.
Result<Done> check_program(const QueuedJob& job);

/// A stream: `piracema run APP`, with `--resume` once there is a snapshot to go on from. It writes
/// to `log`.
OwnProgram stream_program(const QueuedJob& job, const std::string& log);

/// A keeper of any other: `program` is this program's file, and the window closes in `left`; none:
/// never. `risk`: how often it may close before the job is saved. What it says goes to `log`.
OwnProgram keeper_program(const QueuedJob& job, const std::string& program,
                          std::optional<Time> left, double risk, bool compress,
                          const std::string& log);

}  // namespace piracema::ckpt
