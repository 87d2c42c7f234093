#pragma once

#include <piracema/error.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "ckpt/image/manifest.h"

/// The executable and the libraries of a job. Their code is not in its image: what is on the disk
/// when it goes on has to be what it was saved with.
namespace piracema::ckpt {

/// Of a file as it is now. Errc::io naming it.
Result<ProgramRecord> look_at_program(const std::string& path);

/// Files whose code these processes have mapped, each once; from inside of their capsule. One that
/// has been deleted is left out: criu keeps what it needs of it. Errc::io.
Result<std::vector<ProgramRecord>> mapped_programs(const std::vector<pid_t>& processes);

/// Errc::failed naming the first that is missing or another, with what it was and what it is.
Result<Done> check_programs(const std::vector<ProgramRecord>& saved);

}  // namespace piracema::ckpt
