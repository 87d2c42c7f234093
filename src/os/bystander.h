#pragma once

#include <piracema/error.h>

#include <functional>

#include "base/fd.h"

/// A process beside ours that goes on when we stand still or are killed.
namespace piracema::ckpt {

/// Runs `body` in a new process that is nobody's child, so that whoever waits for children does not
/// wait for it, and that has no file of ours open: not the lock of a job's directory, and no
/// terminal. It ignores what a user types; `body` has its end of a socket of whole messages, and
/// the other end, which is returned, closes when we end. Fork it from a process of one thread.
/// Errc::io when there can be no such process.
Result<Fd> start_bystander(const std::function<void(Fd socket)>& body);

}  // namespace piracema::ckpt
