#pragma once

#include "ckpt/job_directory.h"
#include "ckpt/predictor.h"

/// What is known of a store, beside what is learnt: read anew before each forecast.
namespace piracema::ckpt {

/// In the page cache, to be written (Dirty and Writeback of /proc/meminfo).
double dirty_bytes();

/// What was learnt lies in the job's directory, as that is on the store: "predictor.json". A file
/// that cannot be read is as none, with a warning.
Predictor read_predictor(const JobDirectory& directory);
Result<Done> write_predictor(const JobDirectory& directory, const Predictor& predictor);

}  // namespace piracema::ckpt
