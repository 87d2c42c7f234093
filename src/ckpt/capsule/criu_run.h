#pragma once

#include <piracema/error.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "ckpt/capsule/capsule.h"

/// How the first process of a capsule starts the job and criu. They are its children.
namespace piracema::ckpt {

/// In a session of its own, with nothing on standard input and the order's files as output, at
/// whose ends it writes. Errc::config if it cannot be run.
Result<pid_t> start_job(const Order& order);

/// A command of the user's, likewise; it learns the job's first process, `job`, by
/// PIRACEMA_CKPT_PID.
Result<pid_t> start_command(const Order& order, pid_t job);

/// Files of the order's log: criu writes LOG.d/log and statistics, the hook LOG.d/hook.
std::vector<std::string> dump_command(const CapsuleSettings& settings, const Order& order,
                                      pid_t job);
std::vector<std::string> restore_command(const CapsuleSettings& settings, const Order& order);

/// Makes the image complete after a dump that the job survives.
std::vector<std::string> commit_command(const CapsuleSettings& settings);

/// Starts criu or a hook; the hook learns from the order what it is about.
Result<pid_t> start_beside(const std::vector<std::string>& command, const Order& order, pid_t job);

/// What the hook has complained of, else the first error in criu's log and what it means, in one
/// line.
std::string why_failed(const std::string& log);
/// From criu's statistics, how long the job was frozen, in microseconds; 0 if there are none.
std::uint64_t frozen_time(const std::string& log);

}  // namespace piracema::ckpt
