#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/s3/s3_client.h"

namespace piracema::store {

/// An object that is written as it is made, and whose first bytes are known last. It is there when
/// `finish` returns, and else nothing of it is. Needs memory for two pieces of it. One thread at a
/// time.
class S3Upload {
 public:
  static constexpr std::size_t piece_bytes = std::size_t{8} << 20;

  S3Upload(S3Client& client, std::string key) : client_(client), key_(std::move(key)) {}
  ~S3Upload();
  S3Upload(const S3Upload&) = delete;
  S3Upload& operator=(const S3Upload&) = delete;

  /// After an error all else fails, too.
  Result<Done> append(Bytes data);
  /// With `head` before all that was appended, and `tail` behind it. Once.
  Result<Done> finish(Bytes head, const std::vector<Bytes>& tail);

 private:
  Result<Done> put_next(const std::vector<Bytes>& pieces);
  Result<Done> put_all(Bytes head, const std::vector<Bytes>& tail);

  S3Client& client_;
  const std::string key_;
  /// What the server calls it; empty as long as all of it is here.
  std::string upload_;
  /// Says that an object is of this upload.
  std::string mark_;
  /// Of the second piece, and so on.
  std::vector<std::string> tags_;
  /// The first piece, which goes last, and the one that is being filled.
  Buffer first_, next_;
  bool finished_ = false;
  std::optional<Error> failed_;
};

}  // namespace piracema::store
