#pragma once

#include <memory>
#include <string>
#include <vector>

#include "store/objects/object_client.h"
#include "store/s3/s3_address.h"

namespace piracema::store {

/// Objects of one bucket of a server of S3. The tag is what it calls ETag. Tried again is what
/// ends with no connection, no answer, 5xx, 429 or 409.
class S3Client final : public ObjectClient {
 public:
  static Result<std::unique_ptr<S3Client>> make(const S3Server& server, std::string bucket,
                                                ObjectPatience patience = {});

  Result<Done> put(const std::string& key, const std::vector<Bytes>& pieces) override;
  Result<Done> put_new(const std::string& key, const std::vector<Bytes>& pieces) override;
  Result<Read> get(const std::string& key, std::uint64_t offset, std::uint64_t bytes,
                   const std::string& tag = "") override;
  Result<Object> head(const std::string& key) override;
  Result<Done> remove(const std::string& key) override;
  Result<Listing> list(const std::string& prefix, bool folders,
                       std::size_t names_max = 1'000'000) override;

  Result<std::string> begin_upload(const std::string& key) override;
  Result<std::string> put_piece(const std::string& key, const std::string& upload,
                                std::uint32_t number, const std::vector<Bytes>& pieces) override;
  Result<Done> finish_upload(const std::string& key, const std::string& upload,
                             const std::vector<std::string>& tags) override;
  void abort_upload(const std::string& key, const std::string& upload) override;

  Result<std::optional<Lease::Content>> read_lease(const std::string& key) override;
  Result<std::string> write_lease(const std::string& key, const std::string& text,
                                  const std::string& if_match) override;

  const std::string& endpoint() const override { return endpoint_; }

 private:
  S3Client(std::unique_ptr<HttpClient> http, const S3Server& server, std::string bucket,
           ObjectPatience patience);

  HttpRequest request(std::string method, const std::string& key) const;
  /// An answer with a status from 200 to 299, or 416.
  Result<HttpAnswer> send(const HttpRequest& request, const std::string& key,
                          const std::string& what);
  /// With a header that says under which condition; its tag.
  Result<std::string> put_if(const std::string& key, const std::vector<Bytes>& pieces,
                             const std::string& condition);
  Error error_of(const HttpAnswer& answer, const std::string& key, const std::string& what) const;
  Error lost(const Error& why, const std::string& key, const std::string& what) const;

  const std::unique_ptr<HttpClient> http_;
  const std::string endpoint_, bucket_;
  const ObjectPatience patience_;
};

}  // namespace piracema::store
