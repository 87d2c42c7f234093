#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "store/snapshot/job_store.h"

namespace piracema::store {

/// "s3://bucket/job": something else than a path.
bool is_address(std::string_view name);

/// Opens the store of snapshots of this name: a directory, or "s3://BUCKET/PREFIX", whose server
/// and keys are told by the environment (docs/reference.md). With `create` one that is new, too.
/// Errc::not_found if there is none, Errc::config if there is something else, or for an address
/// that is none of ours; else the reason of the system or the server.
Result<std::unique_ptr<JobStore>> open_store(const std::string& name, bool create);

}  // namespace piracema::store
