#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/s3/http_client.h"
#include "store/s3/s3_address.h"

namespace piracema::store {

/// How long the server of a bucket may fail to answer.
struct S3Patience {
  HttpPatience request{};
  /// No new try begins later than so long after the first one.
  std::chrono::milliseconds retry_for{20'000};
};

/// When an object is written.
struct S3Condition {
  /// Nothing is there.
  bool if_none = false;
  /// What is there has this tag; empty: whatever is there.
  std::string if_match{};
};

/// Objects of one bucket. What a server may be able to do later is tried again, after pauses that
/// grow: no connection, no answer, 5xx, 429.
///
/// Errors name the object, what was wanted, the status and the server's own code and message, and
/// where the server is. Errc::not_found: 404; Errc::refused: a condition does not hold;
/// Errc::timeout: not within the bound, and whether it was done is not known; Errc::io: anything
/// else. Any thread.
class S3Client {
 public:
  struct Object {
    /// Of its bytes; another one once they are written again.
    std::string tag;
    std::uint64_t bytes = 0;
    /// As `begin_upload` was told.
    std::string mark{};
  };
  struct Read {
    Object object;
    Buffer content;
  };
  struct Listing {
    /// Names of objects, and of folders with the slash at their end, in no order.
    std::vector<std::string> keys, folders;
  };

  static Result<std::unique_ptr<S3Client>> make(const S3Server& server, std::string bucket,
                                                S3Patience patience = {});

  /// Whole or not at all. Its tag. After Errc::refused the condition may have held for an earlier
  /// try of the same call, whose answer was lost.
  Result<std::string> put(const std::string& key, const std::vector<Bytes>& pieces,
                          const S3Condition& condition = {});
  /// At most `bytes` at `offset`, which may be none; if `tag` is not empty, of the object that has
  /// it.
  Result<Read> get(const std::string& key, std::uint64_t offset, std::uint64_t bytes,
                   const std::string& tag = "");
  Result<Object> head(const std::string& key);
  /// Nothing there is no error.
  Result<Done> remove(const std::string& key);
  /// All objects whose names begin with `prefix`; by `folders` what has a slash behind it is one
  /// folder. At most `names_max` names: more is Errc::io.
  Result<Listing> list(const std::string& prefix, bool folders, std::size_t names_max = 1'000'000);

  // ---- an object in pieces, each but the last of at least 5 MiB, at most 10,000; put in any order
  /// `mark` stays with the object. Returns what the upload is called.
  Result<std::string> begin_upload(const std::string& key, const std::string& mark);
  /// `number` is at least 1. Its tag.
  Result<std::string> put_piece(const std::string& key, const std::string& upload,
                                std::uint32_t number, const std::vector<Bytes>& pieces);
  /// The tags in the order of their numbers. The object is there whole when it returns. Done once
  /// more if an earlier try did it.
  Result<Done> finish_upload(const std::string& key, const std::string& upload,
                             const std::vector<std::string>& tags, const std::string& mark);
  /// What was put of it goes. What cannot be told to the server stays there.
  void abort_upload(const std::string& key, const std::string& upload);

  const std::string& endpoint() const { return endpoint_; }

 private:
  S3Client(std::unique_ptr<HttpClient> http, const S3Server& server, std::string bucket,
           S3Patience patience);

  HttpRequest request(std::string method, const std::string& key) const;
  /// An answer with a status from 200 to 299, or 416.
  Result<HttpAnswer> send(const HttpRequest& request, const std::string& key,
                          const std::string& what);
  Error error_of(const HttpAnswer& answer, const std::string& key, const std::string& what) const;
  Error lost(const Error& why, const std::string& key, const std::string& what) const;

  const std::unique_ptr<HttpClient> http_;
  const std::string endpoint_, bucket_;
  const S3Patience patience_;
};

}  // namespace piracema::store
