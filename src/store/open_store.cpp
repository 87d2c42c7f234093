#include "store/open_store.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "store/hdfs/hdfs_store.h"
#include "store/s3/s3_store.h"
#include "store/snapshot/directory_store.h"

namespace piracema::store {

bool is_address(std::string_view name) {
  const auto end = name.find("://");
  if (end == name.npos || end == 0) return false;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (!is_letter(name.front())) return false;
  return std::all_of(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(end), [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  });
}

Result<std::unique_ptr<JobStore>> open_store(const std::string& name, bool create) {
  if (name.starts_with("s3://")) {
    auto store = open_s3_store(name, create);
    if (!store) return store.error();
    return std::unique_ptr<JobStore>(*std::move(store));
  }
  if (name.starts_with("webhdfs://") || name.starts_with("swebhdfs://")) {
    auto store = open_hdfs_store(name, create);
    if (!store) return store.error();
    return std::unique_ptr<JobStore>(*std::move(store));
  }
  if (name.starts_with("hdfs://")) {
    return Error{Errc::config, concat("want webhdfs://HOST:PORT/PATH with the port of the name "
                                      "node's web server (9870), found \"",
                                      name, "\"")};
  }
  // As a path it would be a directory "ftp:" wherever the program happens to be.
  if (is_address(name)) {
    return Error{Errc::config, concat("want a directory of snapshots, s3://BUCKET/PREFIX or "
                                      "webhdfs://HOST:PORT/PATH, found the address \"",
                                      name, "\"; ./", name, " is the directory of that name")};
  }
  auto store = open_directory_store(name, create);
  if (!store) return store.error();
  return std::unique_ptr<JobStore>(*std::move(store));
}

}  // namespace piracema::store
