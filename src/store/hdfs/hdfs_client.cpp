#include "store/hdfs/hdfs_client.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "base/crypto.h"
#include "base/parse.h"
#include "base/text.h"

namespace piracema::store {

namespace {

constexpr int folders_deep_max = 8;
/// So many files are put together by one request: their names are in its address.
constexpr std::size_t sources_max = 16;

std::string temporary_name(const std::string& key) { return concat(key, ".tmp-", random_hex(8)); }

std::string piece_name(const std::string& upload, std::uint64_t number) {
  return concat(upload, "-", number);
}

std::string folder_of(const std::string& key) {
  const std::size_t slash = key.rfind('/');
  return slash == key.npos ? "" : key.substr(0, slash);
}

std::string tag_of(const WebHdfs::Status& status) {
  return concat(status.id, "-", status.modified, "-", status.bytes);
}

std::string lease_file(const std::string& key, std::uint64_t number) {
  std::array<char, 24> digits{};
  std::snprintf(digits.data(), digits.size(), "%020llu", static_cast<unsigned long long>(number));
  return concat(key, "/", digits.data());
}

}  // namespace

Result<Done> HdfsClient::put(const std::string& key, const std::vector<Bytes>& pieces) {
  for (bool again = false;; again = true) {
    const std::string name = temporary_name(key);
    if (auto made = files_->create(name, pieces); !made) return made;
    auto renamed = files_->rename(name, key, true);
    // An earlier try may have done it, or somebody has removed it: to do it once more is right.
    if (!renamed && renamed.error().code == Errc::not_found && !again) continue;
    if (!renamed) static_cast<void>(files_->remove(name));
    return renamed;
  }
}

Result<Done> HdfsClient::put_new(const std::string& key, const std::vector<Bytes>& pieces) {
  const std::string name = temporary_name(key);
  if (auto made = files_->create(name, pieces); !made) return made;
  auto renamed = files_->rename(name, key, false);
  if (!renamed) static_cast<void>(files_->remove(name));
  if (!renamed && renamed.error().code == Errc::not_found) {
    return Error{Errc::refused, renamed.error().message};  // By an earlier try, perhaps.
  }
  return renamed;
}

Result<ObjectClient::Object> HdfsClient::head(const std::string& key) {
  const auto status = files_->status(key);
  if (!status) return status.error();
  if (!status->is_folder) return Object{tag_of(*status), status->bytes};
  return Error{Errc::not_found, concat(key, " at ", endpoint(), ": want a file, found a folder")};
}

Result<ObjectClient::Read> HdfsClient::get(const std::string& key, std::uint64_t offset,
                                           std::uint64_t bytes, const std::string& tag) {
  const auto object = head(key);
  if (!object) return object.error();
  if (!tag.empty() && tag != object->tag) {
    return Error{Errc::refused, concat(key, " at ", endpoint(), ": it was written again")};
  }
  Read read{*object, {}};
  const std::uint64_t there = object->bytes - std::min(offset, object->bytes);
  if (there == 0 || bytes == 0) return read;
  auto content = files_->read(key, offset, std::min(bytes, there));
  if (!content) return content.error();
  read.content = *std::move(content);
  return read;
}

Result<Done> HdfsClient::remove(const std::string& key) {
  auto removed = files_->remove(key);
  // A folder that is not empty stays, whatever the server calls that.
  if (removed) static_cast<void>(files_->remove(folder_of(key)));
  return removed;
}

Result<ObjectClient::Listing> HdfsClient::list(const std::string& prefix, bool folders,
                                               std::size_t names_max) {
  Listing listing;
  auto added = add_to(listing, prefix, folders, names_max, 0);
  if (!added) return added.error();
  return listing;
}

Result<Done> HdfsClient::add_to(Listing& listing, const std::string& prefix, bool folders,
                                std::size_t names_max, int depth) {
  const auto found = files_->list(folder_of(prefix));
  if (!found && found.error().code == Errc::not_found) return Done{};
  if (!found) return found.error();
  for (const WebHdfs::Status& status : *found) {
    // One that was asked for by its own name.
    if (status.name.empty()) continue;
    const std::string name = prefix + status.name;
    if (!status.is_folder) {
      listing.keys.push_back(name);
    } else if (folders) {
      listing.folders.push_back(name + "/");
    } else if (depth < folders_deep_max) {
      auto added = add_to(listing, name + "/", folders, names_max, depth + 1);
      if (!added) return added;
    }
    if (listing.keys.size() + listing.folders.size() <= names_max) continue;
    return Error{Errc::io,
                 concat(prefix, " at ", endpoint(), ": want at most ", names_max, " names")};
  }
  return Done{};
}

Result<std::string> HdfsClient::begin_upload(const std::string& key) { return temporary_name(key); }

Result<std::string> HdfsClient::put_piece(const std::string&, const std::string& upload,
                                          std::uint32_t number, const std::vector<Bytes>& pieces) {
  auto made = files_->create(piece_name(upload, number), pieces);
  if (!made) return made.error();
  return std::string();
}

Result<Done> HdfsClient::finish_upload(const std::string& key, const std::string& upload,
                                       const std::vector<std::string>& tags) {
  const std::string first = piece_name(upload, 1);
  for (std::size_t number = 2; number <= tags.size();) {
    std::vector<std::string> sources;
    for (; number <= tags.size() && sources.size() < sources_max; ++number) {
      sources.push_back(piece_name(upload, number));
    }
    auto put = files_->append_files(first, sources);
    // An earlier try has done it if none of them is there any more.
    if (!put && put.error().code == Errc::not_found) {
      const auto left = files_->status(sources.front());
      if (left || left.error().code != Errc::not_found) return put;
    } else if (!put) {
      return put;
    }
  }
  const auto whole = files_->status(first);
  if (!whole) return whole.error();
  auto renamed = files_->rename(first, key, true);
  if (!renamed && renamed.error().code == Errc::not_found) {
    const auto there = files_->status(key);
    if (there && there->id == whole->id) return Done{};
  }
  return renamed;
}

void HdfsClient::abort_upload(const std::string& key, const std::string& upload) {
  const std::string folder = folder_of(key);
  const auto found = files_->list(folder);
  if (!found) return;
  for (const WebHdfs::Status& status : *found) {
    const std::string name = concat(folder, "/", status.name);
    if (name.starts_with(upload + "-")) static_cast<void>(files_->remove(name));
  }
  static_cast<void>(files_->remove(folder));
}

// ---- a lease ------------------------------------------------------------------------------------

Result<std::uint64_t> HdfsClient::newest(const std::string& key, std::vector<std::string>* older) {
  const auto found = files_->list(key);
  if (!found && found.error().code == Errc::not_found) return std::uint64_t{0};
  if (!found) return found.error();
  std::uint64_t newest = 0;
  for (const WebHdfs::Status& status : *found) {
    newest = std::max(newest, parse_number<std::uint64_t>(status.name).value_or(0));
  }
  if (older == nullptr) return newest;
  for (const WebHdfs::Status& status : *found) {
    std::string name = concat(key, "/", status.name);
    if (name != lease_file(key, newest)) older->push_back(std::move(name));
  }
  return newest;
}

Result<std::optional<Lease::Content>> HdfsClient::read_lease(const std::string& key) {
  constexpr int tries_max = 10;
  for (int tries = 1;; ++tries) {
    const auto number = newest(key);
    if (!number) return number.error();
    if (*number == 0) return std::optional<Lease::Content>();
    const auto read = get(lease_file(key, *number), 0, Lease::text_bytes_max);
    if (read) {
      return std::optional(
          Lease::Content{std::to_string(*number), std::string(as_text(read->content))});
    }
    // The next one is there by now.
    if (read.error().code != Errc::not_found || tries == tries_max) return read.error();
  }
}

Result<std::string> HdfsClient::write_lease(const std::string& key, const std::string& text,
                                            const std::string& if_match) {
  const auto refused = [&] {
    return Error{Errc::refused, concat(key, " at ", endpoint(), ": it was written by another one")};
  };
  const auto before = newest(key);
  if (!before) return before.error();
  if (if_match != (*before == 0 ? "" : std::to_string(*before))) return refused();
  const std::uint64_t number = *before + 1;
  const std::string ours = lease_file(key, number);
  if (auto made = put_new(ours, {as_bytes(text)}); !made) return made.error();
  // Who was slow may have made one that others had made and removed since.
  std::vector<std::string> older;
  const auto last = newest(key, &older);
  if (!last) return last.error();
  if (*last != number) {
    static_cast<void>(files_->remove(ours));
    return refused();
  }
  for (const std::string& name : older) static_cast<void>(files_->remove(name));
  return std::to_string(number);
}

}  // namespace piracema::store
