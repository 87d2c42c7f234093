#pragma once

#include <memory>
#include <string>

#include "store/objects/object_store.h"
#include "store/s3/s3_address.h"

namespace piracema::store {

/// Opens "s3://BUCKET/PREFIX": ObjectStore::open. The bucket exists. Wants a server that lists what
/// was just written, and writes under conditions. Errc::not_found if there is no bucket, too;
/// Errc::config also for what is no address, and keys that are missing.
Result<std::unique_ptr<ObjectStore>> open_s3_store(const std::string& address, bool create);
/// The same on this server.
Result<std::unique_ptr<ObjectStore>> open_s3_store(const std::string& address, bool create,
                                                   const S3Server& server,
                                                   ObjectStoreSettings settings = {});

}  // namespace piracema::store
