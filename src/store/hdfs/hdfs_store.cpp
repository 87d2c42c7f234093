#include "store/hdfs/hdfs_store.h"

#include <utility>

#include "store/hdfs/hdfs_client.h"

namespace piracema::store {

Result<std::unique_ptr<ObjectStore>> open_hdfs_store(const std::string& text, bool create,
                                                     ObjectStoreSettings settings) {
  const auto address = HdfsAddress::parse(text);
  if (!address) return address.error();
  ConnectToObjects connect =
      [address =
           *address](const ObjectPatience& patience) -> Result<std::unique_ptr<ObjectClient>> {
    auto files = WebHdfs::make(address, patience);
    if (!files) return files.error();
    return std::unique_ptr<ObjectClient>(std::make_unique<HdfsClient>(*std::move(files)));
  };
  return ObjectStore::open({address->text(), address->path, address->root()}, std::move(connect),
                           create, settings);
}

}  // namespace piracema::store
