#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/objects/object_client.h"

namespace piracema::store {

/// An object that is written as it is made, and whose first bytes are known last. It is there when
/// `finish` returns, and else nothing of it is. Needs memory for two pieces of it. One thread at a
/// time.
class ObjectUpload {
 public:
  static constexpr std::size_t piece_bytes = std::size_t{8} << 20;

  ObjectUpload(ObjectClient& client, std::string key) : client_(client), key_(std::move(key)) {}
  ~ObjectUpload();
  ObjectUpload(const ObjectUpload&) = delete;
  ObjectUpload& operator=(const ObjectUpload&) = delete;

  /// After an error all else fails, too.
  Result<Done> append(Bytes data);
  /// With `head` before all that was appended, and `tail` behind it. Once.
  Result<Done> finish(Bytes head, const std::vector<Bytes>& tail);

 private:
  Result<Done> put_next(const std::vector<Bytes>& pieces);
  Result<Done> put_all(Bytes head, const std::vector<Bytes>& tail);

  ObjectClient& client_;
  const std::string key_;
  /// What the server calls it; empty as long as all of it is here.
  std::string upload_;
  /// Of the second piece, and so on.
  std::vector<std::string> tags_;
  /// The first piece, which goes last, and the one that is being filled.
  Buffer first_, next_;
  bool finished_ = false;
  std::optional<Error> failed_;
};

}  // namespace piracema::store
