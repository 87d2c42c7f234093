#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/http/http_client.h"
#include "store/objects/lease.h"

namespace piracema::store {

/// How long a server of objects may fail to answer.
struct ObjectPatience {
  HttpPatience request{};
  /// No new try begins later than so long after the first one.
  std::chrono::milliseconds retry_for{20'000};
};

/// Objects by their names, which have slashes in them, on a server. What a server may be able to do
/// later is tried again, after pauses that grow (`Pauses`).
///
/// Errors name the object, what was wanted, what the server says, and where it is. Errc::not_found:
/// there is none; Errc::refused: a condition does not hold; Errc::timeout: not within the bound,
/// and whether it was done is not known; Errc::io: anything else. Any thread.
class ObjectClient {
 public:
  struct Object {
    /// Of its bytes; another one once they are written again.
    std::string tag;
    std::uint64_t bytes = 0;
  };
  struct Read {
    Object object;
    Buffer content;
  };
  struct Listing {
    /// Names of objects, and of folders with the slash at their end, in no order.
    std::vector<std::string> keys, folders;
  };

  virtual ~ObjectClient() = default;

  /// Whole or not at all, in place of what is there.
  virtual Result<Done> put(const std::string& key, const std::vector<Bytes>& pieces) = 0;
  /// Only if nothing is there. After Errc::refused the condition may have held for an earlier try
  /// of the same call, whose answer was lost.
  virtual Result<Done> put_new(const std::string& key, const std::vector<Bytes>& pieces) = 0;
  /// At most `bytes` at `offset`, which may be none; if `tag` is not empty, of the object that has
  /// it.
  virtual Result<Read> get(const std::string& key, std::uint64_t offset, std::uint64_t bytes,
                           const std::string& tag = "") = 0;
  virtual Result<Object> head(const std::string& key) = 0;
  /// Nothing there is no error.
  virtual Result<Done> remove(const std::string& key) = 0;
  /// All objects whose names begin with `prefix`, which is empty or ends in a slash; by `folders`
  /// what has a slash behind it is one folder. At most `names_max` names: more is Errc::io.
  virtual Result<Listing> list(const std::string& prefix, bool folders,
                               std::size_t names_max = 1'000'000) = 0;

  // ---- an object in pieces, each but the last of at least 5 MiB, at most 10,000; put in any order
  /// Returns what the upload is called.
  virtual Result<std::string> begin_upload(const std::string& key) = 0;
  /// `number` is at least 1. Its tag.
  virtual Result<std::string> put_piece(const std::string& key, const std::string& upload,
                                        std::uint32_t number, const std::vector<Bytes>& pieces) = 0;
  /// The tags in the order of their numbers. The object is there whole when it returns. Done once
  /// more if an earlier try did it.
  virtual Result<Done> finish_upload(const std::string& key, const std::string& upload,
                                     const std::vector<std::string>& tags) = 0;
  /// What was put of it goes. What cannot be told to the server stays there.
  virtual void abort_upload(const std::string& key, const std::string& upload) = 0;

  // ---- the one object of a store that is written under the condition that it has not changed
  /// Nothing: there is none. At most Lease::text_bytes_max.
  virtual Result<std::optional<Lease::Content>> read_lease(const std::string& key) = 0;
  /// Its new tag. `if_match` has to be the tag of what is there; empty: nothing may be there. Else
  /// Errc::refused, with which it may still have been done, as with `put_new`.
  virtual Result<std::string> write_lease(const std::string& key, const std::string& text,
                                          const std::string& if_match) = 0;

  /// Where the server is, for people.
  virtual const std::string& endpoint() const = 0;
};

}  // namespace piracema::store
