#include "store/s3/s3_store.h"

#include <utility>

#include "base/text.h"
#include "store/s3/s3_client.h"

namespace piracema::store {

Result<std::unique_ptr<ObjectStore>> open_s3_store(const std::string& address, bool create) {
  const auto server = S3Server::from_environment();
  if (!server) return server.error();
  return open_s3_store(address, create, *server);
}

Result<std::unique_ptr<ObjectStore>> open_s3_store(const std::string& text, bool create,
                                                   const S3Server& server,
                                                   ObjectStoreSettings settings) {
  const auto address = S3Address::parse(text);
  if (!address) return address.error();
  ConnectToObjects connect =
      [server, bucket = address->bucket](
          const ObjectPatience& patience) -> Result<std::unique_ptr<ObjectClient>> {
    auto client = S3Client::make(server, bucket, patience);
    if (!client) return client.error();
    return std::unique_ptr<ObjectClient>(*std::move(client));
  };
  return ObjectStore::open(
      {address->text(), address->prefix, concat("s3://", address->bucket, "/")}, std::move(connect),
      create, settings);
}

}  // namespace piracema::store
