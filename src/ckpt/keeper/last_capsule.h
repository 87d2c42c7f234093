#pragma once

#include <piracema/error.h>
#include <sys/types.h>

#include <string>

/// Whoever kills a keeper kills its job with it, but not at once: the kernel ends the capsule when
/// it gets to it. Until then the job may write to the files that the next keeper cuts.
namespace piracema::ckpt {

/// For the next keeper of this job directory: the first process of the capsule that is opened.
void note_capsule(const std::string& job_directory, pid_t first);

/// Waits until the one that was noted last, if it was on this host and since its start, has ended
/// with all in it. Errc::failed if it does not within ten seconds.
Result<Done> wait_for_last_capsule(const std::string& job_directory);

}  // namespace piracema::ckpt
