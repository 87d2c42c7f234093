#pragma once

#include <memory>
#include <string>

#include "store/objects/object_store.h"

namespace piracema::store {

/// Opens "webhdfs://HOST:PORT/PATH" or "swebhdfs://…": ObjectStore::open. Errc::config also for
/// what is no address.
Result<std::unique_ptr<ObjectStore>> open_hdfs_store(const std::string& address, bool create,
                                                     ObjectStoreSettings settings = {});

}  // namespace piracema::store
