#pragma once

#include <piracema/error.h>

#include <string>

#include "ckpt/image/job_directory.h"

namespace piracema::ckpt {

/// The file that a job's hosts find this program by: a copy in its directory, so that what runs in
/// the capsules is there, and is the same, wherever and whenever the job goes on.
std::string job_program(const JobDirectory& directory);
/// Makes it. Errc::io.
Result<Done> copy_job_program(const JobDirectory& directory, const std::string& program);

}  // namespace piracema::ckpt
