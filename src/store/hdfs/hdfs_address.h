#pragma once

#include <piracema/error.h>

#include <string>

namespace piracema::store {

/// "webhdfs://HOST:PORT/PATH": a directory of an HDFS, by the web server of its name node; with
/// "swebhdfs://" by TLS.
struct HdfsAddress {
  bool tls = false;
  std::string host;
  std::uint16_t port = 0;
  /// Without a slash at either end, and not empty.
  std::string path;

  /// Errc::config. Wants a name or an IPv4 address as host, and a path of words of letters, digits
  /// and "-_.~". Without a port it is 9870, or 9871 with TLS.
  static Result<HdfsAddress> parse(const std::string& text);
  /// "webhdfs://host:9870/", before a path.
  std::string root() const;
  std::string text() const { return root() + path; }
  /// "http://host:9870"
  std::string endpoint() const;
};

/// Who we are there, by simple authentication: $HADOOP_USER_NAME, or else the user of this process.
/// Errc::config for what is no name.
Result<std::string> hdfs_user();

}  // namespace piracema::store
