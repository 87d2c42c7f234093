#pragma once

#include <piracema/error.h>

#include <string>

#include "coll/figures/figures.h"

namespace piracema::coll {

/// Puts figures into a file, for its owner alone, in place of what is there: who reads it finds the
/// ones before or these, and no part of either. `FILE.new` beside it is used for that. Errc::io.
Result<Done> write_figures(const std::string& file, const JobFigures& figures);

/// At most `figures_file_bytes_max` bytes, and a file: no pipe is waited for, no link followed.
/// Errc::not_found if there is none yet, Errc::io, Errc::corrupt.
Result<JobFigures> read_figures(const std::string& file);

/// Of 1,024 ranks and all that there can be of them: some 250 kB.
constexpr std::size_t figures_file_bytes_max = 512 << 10;

}  // namespace piracema::coll
