#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "store/hdfs/hdfs_address.h"
#include "store/objects/object_client.h"

namespace piracema::store {

/// Files of an HDFS by the REST interface of its name node (WebHDFS, version 1; Hadoop 2.8 or
/// later): what is read or written goes by a data node that the name node chooses for each request.
///
/// Paths have no slash at their beginning. Tried again is what ends with no connection, no answer,
/// 5xx, 429, or for a reason that passes: a name node that is in safe mode or stands by, a file
/// that is being recovered. Errors as those of ObjectClient; Errc::refused: something is there
/// already. Any thread.
class WebHdfs {
 public:
  struct Status {
    std::string name;
    bool is_folder = false;
    std::uint64_t bytes = 0;
    /// Tells a file from any other, before and after it, under whatever name.
    std::uint64_t id = 0;
    /// Milliseconds since 1970.
    std::uint64_t modified = 0;
  };

  static Result<std::unique_ptr<WebHdfs>> make(const HdfsAddress& address, ObjectPatience patience);

  Result<Status> status(const std::string& path);
  /// What is in a folder, but not what is in those.
  Result<std::vector<Status>> list(const std::string& path);
  /// `offset` is within the file, and `bytes` are there.
  Result<Buffer> read(const std::string& path, std::uint64_t offset, std::uint64_t bytes);
  /// In place of what is there, with the folders that it is in. Until it returns others may see a
  /// part of it.
  Result<Done> create(const std::string& path, const std::vector<Bytes>& pieces);
  /// At once. Errc::not_found if it is not there, as it is when an earlier try has done it.
  Result<Done> rename(const std::string& from, const std::string& to, bool replaces);
  /// Puts these behind `path`; they are gone then. Errc::not_found as `rename`.
  Result<Done> append_files(const std::string& path, const std::vector<std::string>& sources);
  /// A file, or an empty folder. Nothing there is no error.
  Result<Done> remove(const std::string& path);

  const std::string& endpoint() const { return endpoint_; }

 private:
  WebHdfs(std::unique_ptr<HttpClient> http, const HdfsAddress& address, std::string user,
          ObjectPatience patience);

  struct Request {
    std::string method, path;
    /// "OPEN&offset=7"
    std::string operation;
    /// A data node does it.
    bool by_data_node = false;
    std::vector<Bytes> body{};
    std::size_t answer_bytes_max = std::size_t{8} << 20;
    /// For people: "read it".
    std::string what{};
  };
  Result<HttpAnswer> send(const Request& request);
  Result<HttpAnswer> try_once(const Request& request);
  Error lost(const Error& why, const Request& request) const;

  const std::unique_ptr<HttpClient> http_;
  const std::string endpoint_, root_, user_;
  const ObjectPatience patience_;
};

}  // namespace piracema::store
