#pragma once

#include <piracema/error.h>

#include "cluster/driver/driver.h"

namespace piracema::cluster {

/// Whether a job can be as its options say, as far as that is known before it begins; `settings`
/// are those of `options`, with what follows from them. Errc::config.
Result<Done> check_job(const JobOptions& options, const JobSettings& settings);

/// Whether its workers can go on without a coordinator, if they are to. Errc::config.
Result<Done> check_keeping(const JobOptions& options);

}  // namespace piracema::cluster
