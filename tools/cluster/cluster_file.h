#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <string>

namespace piracema::tools {

/// A key that is to come into a cluster, as a client of its group.
struct NewClient {
  std::uint64_t client = 0;
  std::string public_key;
};

/// cluster.toml where a cluster is administered: which clients its group has. People may have
/// changed settings and written comments there: all that is not about a client stays as it is.
class ClusterFile {
 public:
  /// Errc::config, Errc::io name the file.
  static Result<ClusterFile> read(const std::string& directory);

  /// One that has no client yet, and a key for it at `key_file`. Errc::io.
  Result<NewClient> draw(const std::string& key_file) const;
  /// Once the group has admitted or dismissed it. Errc::io.
  Result<Done> add(const NewClient& added);
  Result<Done> remove(std::uint64_t client);
  /// For whoever asks the cluster from elsewhere. Errc::io.
  Result<Done> copy_to(const std::string& directory) const;

 private:
  ClusterFile(std::string directory, std::string text, std::uint64_t last)
      : directory_(std::move(directory)), text_(std::move(text)), last_client_(last) {}

  std::string directory_, text_;
  std::uint64_t last_client_ = 0;
};

/// Replaces the file as a whole. Errc::io.
Result<Done> write_file(const std::string& path, const std::string& text);
/// For this user alone; one that is there is as good. Errc::io.
Result<Done> make_folder(const std::string& path);

}  // namespace piracema::tools
