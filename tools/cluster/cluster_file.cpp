#include "tools/cluster/cluster_file.h"

#include <piracema/smr/configuration.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/text.h"
#include "jobs/protocol/users.h"
#include "store/disk/files.h"
#include "tools/kv/group.h"

namespace piracema::tools {

namespace {

constexpr std::uint64_t cluster_bytes_max = std::uint64_t{1} << 20;

std::string cluster_file_of(const std::string& directory) { return directory + "/cluster.toml"; }
std::string section_of(std::uint64_t client) { return concat("[client.", client, "]"); }

std::string without_section(const std::string& text, const std::string& section) {
  const auto begin = text.find(section);
  if (begin == std::string::npos) return text;
  const auto end = text.find("\n[", begin);
  return text.substr(0, begin) + (end == std::string::npos ? "" : text.substr(end + 1));
}

}  // namespace

Result<Done> write_file(const std::string& path, const std::string& text) {
  const std::array<Bytes, 1> pieces{as_bytes(text)};
  return store::replace_file(path, pieces);
}

Result<Done> make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return Done{};
  return Error{Errc::io, with_errno(path)};
}

Result<ClusterFile> ClusterFile::read(const std::string& directory) {
  const auto configuration = smr::read_configuration(cluster_file_of(directory));
  if (!configuration) return configuration.error();
  const auto bytes = store::read_file(cluster_file_of(directory), cluster_bytes_max);
  if (!bytes) return bytes.error();
  std::uint64_t last = jobs::first_client;
  for (const auto& client : configuration->clients) last = std::max(last, client.id);
  return ClusterFile(directory, std::string(as_text(*bytes)), last);
}

// What an earlier try has left there is of no use: the group may never have heard of it.
Result<NewClient> ClusterFile::draw(const std::string& key_file) const {
  if (::unlink(key_file.c_str()) != 0 && errno != ENOENT) {
    return Error{Errc::io, with_errno(key_file)};
  }
  auto key = new_key(key_file);
  if (!key) return key.error();
  return NewClient{last_client_ + 1, *std::move(key)};
}

Result<Done> ClusterFile::add(const NewClient& added) {
  if (!text_.ends_with('\n')) text_ += '\n';
  text_ += concat("\n", section_of(added.client), "\npublic_key = \"", added.public_key, "\"\n");
  return write_file(cluster_file_of(directory_), text_);
}

Result<Done> ClusterFile::remove(std::uint64_t client) {
  text_ = without_section(text_, section_of(client));
  return write_file(cluster_file_of(directory_), text_);
}

Result<Done> ClusterFile::copy_to(const std::string& directory) const {
  return write_file(cluster_file_of(directory), text_);
}

}  // namespace piracema::tools
