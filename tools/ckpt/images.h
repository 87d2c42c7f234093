#pragma once

#include <cstdint>
#include <string>

/// `piracema ckpt list`, `verify` and `prune`: the images of a job. Each gives the exit code.
namespace piracema::tools {

int list_images(const std::string& directory_of_job, bool json);
/// 1 if one is damaged.
int verify_images(const std::string& directory_of_job);
/// Wants the lock of the directory: not while the job runs.
int prune_images(const std::string& directory_of_job, std::uint32_t keep);

}  // namespace piracema::tools
