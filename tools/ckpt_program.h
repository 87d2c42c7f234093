#pragma once

#include <piracema/error.h>

#include <memory>
#include <string>
#include <vector>

#include "ckpt/job_directory.h"
#include "ckpt/keeper_loop.h"

/// What `piracema ckpt run`, `resume` and `window` have in common.
namespace piracema::tools {

/// This program's file.
std::string this_program();

/// Finds criu. Errc::usage for a time that is none, Errc::config.
Result<ckpt::RunSettings> run_settings(const std::string& criu, const std::string& every,
                                       std::uint32_t keep, bool quiet);

/// Begins a job in the directory, in place of one that has ended or was never saved. Errc::config
/// if one is there that can go on.
Result<ckpt::JobFile> new_job(ckpt::JobDirectory& directory, std::vector<std::string> command);

/// Runs it: the exit code.
int keep_job(std::unique_ptr<ckpt::JobDirectory> directory, ckpt::JobFile job,
             ckpt::RunSettings settings);

}  // namespace piracema::tools
