#pragma once

#include <piracema/error.h>

#include <string>

/// What a place outside of the job's directory has, so that it is known whether its images are of
/// the job's own past: `local_mark` of the job (job_directory.h).
namespace piracema::ckpt {

std::string draw_mark();
/// Empty if there is none.
std::string mark_of(const std::string& place);
/// Durable when it returns. Errc::io.
Result<Done> write_mark(const std::string& place, const std::string& mark);

}  // namespace piracema::ckpt
