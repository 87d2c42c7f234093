#pragma once

#include <memory>
#include <string>
#include <vector>

#include "store/hdfs/webhdfs.h"
#include "store/objects/object_client.h"

namespace piracema::store {

/// Objects as files of an HDFS. What is written gets its name when it is whole, by a rename; until
/// then it lies beside it as NAME.tmp-…, which a process that is killed leaves there. A lease is a
/// folder with one file, whose name is a number that grows: who makes the next one has written it.
class HdfsClient final : public ObjectClient {
 public:
  explicit HdfsClient(std::unique_ptr<WebHdfs> files) : files_(std::move(files)) {}

  Result<Done> put(const std::string& key, const std::vector<Bytes>& pieces) override;
  Result<Done> put_new(const std::string& key, const std::vector<Bytes>& pieces) override;
  Result<Read> get(const std::string& key, std::uint64_t offset, std::uint64_t bytes,
                   const std::string& tag = "") override;
  Result<Object> head(const std::string& key) override;
  /// With the folder that it is in, if that is empty then.
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

  const std::string& endpoint() const override { return files_->endpoint(); }

 private:
  Result<Done> add_to(Listing& listing, const std::string& prefix, bool folders,
                      std::size_t names_max, int depth);
  /// The newest of a lease; 0: there is none. Others that were there go to `older`.
  Result<std::uint64_t> newest(const std::string& key, std::vector<std::string>* older = nullptr);

  const std::unique_ptr<WebHdfs> files_;
};

}  // namespace piracema::store
