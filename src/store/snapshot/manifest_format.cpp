#include "store/snapshot/manifest_format.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "base/ensure.h"
#include "base/hex.h"
#include "base/text.h"
#include "wire/checksum.h"

namespace piracema::store {

namespace {

using nlohmann::json;

constexpr std::string_view manifest_format = "piracema snapshot";
// object > content > parts > part > files > file: nothing of ours is deeper.
constexpr int manifest_depth_max = 6;

// Thrown and caught in this file: what is wrong with the text.
struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct OtherVersion : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Names in order, no white space: one text for one content, whoever has laid out the file.
std::string content_checksum(const json& content) {
  const std::string text = content.dump(-1, ' ', true);
  return to_hex(wire::checksum(as_bytes(text)));
}

const json& member(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) throw Wrong(concat("want \"", name, "\", found none"));
  return *found;
}

template <class N>
N number(const json& object, const char* name, std::uint64_t max = std::numeric_limits<N>::max()) {
  const json& value = member(object, name);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > max) {
    throw Wrong(
        concat("want \"", name, "\" as a whole number up to ", max, ", found something else"));
  }
  return static_cast<N>(value.get<std::uint64_t>());
}

const std::string& text(const json& object, const char* name) {
  const json& value = member(object, name);
  if (!value.is_string()) {
    throw Wrong(concat("want \"", name, "\" as a text, found ", value.type_name()));
  }
  return value.get_ref<const std::string&>();
}

std::string hex(const json& object, const char* name) {
  auto bytes = from_hex(text(object, name));
  if (!bytes) throw Wrong(concat("want \"", name, "\" in hexadecimal, found another text"));
  return *std::move(bytes);
}

std::uint64_t hex_number(const json& object, const char* name) {
  const std::string bytes = hex(object, name);
  if (bytes.size() != 8) throw Wrong(concat("want \"", name, "\" as 16 hexadecimal digits"));
  std::uint64_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

// Files in which states by key lie that have not changed since: [[snapshot, replica], …].
std::vector<PartFile> files_of(const json& list) {
  if (!list.is_array()) throw Wrong("want \"files\" as a list");
  std::vector<PartFile> files;
  for (const json& entry : list) {
    const bool right = entry.is_array() && entry.size() == 2 && entry[0].is_number_unsigned() &&
                       entry[1].is_number_unsigned() &&
                       entry[1].get<std::uint64_t>() <= std::numeric_limits<ReplicaId>::max();
    if (!right) throw Wrong("want each of \"files\" as the numbers of a snapshot and a replica");
    const PartFile file{entry[0].get<SnapshotId>(), entry[1].get<ReplicaId>()};
    if (!files.empty() && !(files.back() < file)) throw Wrong("want \"files\" in their order");
    files.push_back(file);
  }
  return files;
}

std::vector<NodeParts> nodes_of(const json& content) {
  const json& list = member(content, "nodes");
  if (!list.is_array()) throw Wrong("want \"nodes\" as a list");
  std::vector<NodeParts> nodes;
  for (const json& entry : list) {
    if (!entry.is_object()) throw Wrong("want each of \"nodes\" as an object");
    NodeParts node{text(entry, "name"), number<std::uint32_t>(entry, "replicas"),
                   number<std::uint32_t>(entry, "key_groups")};
    if (node.replicas == 0) throw Wrong("want at least one of \"replicas\"");
    nodes.push_back(std::move(node));
  }
  return nodes;
}

std::vector<Part> parts_of(const json& content) {
  const json& list = member(content, "parts");
  if (!list.is_array()) throw Wrong("want \"parts\" as a list");
  std::vector<Part> parts;
  std::set<ReplicaId> seen;
  for (const json& entry : list) {
    if (!entry.is_object()) throw Wrong("want each of \"parts\" as an object");
    Part part;
    part.replica = number<ReplicaId>(entry, "replica");
    part.bytes = number<std::uint64_t>(entry, "bytes", part_bytes_max);
    part.checksum = hex_number(entry, "checksum");
    if (const auto files = entry.find("files"); files != entry.end()) {
      part.indexed = true;
      part.files = files_of(*files);
    }
    if (!seen.insert(part.replica).second) {
      throw Wrong(concat("replica ", part.replica, " has two parts"));
    }
    parts.push_back(part);
  }
  return parts;
}

std::map<std::string, std::string> layouts_of(const json& content) {
  const json& all = member(content, "layouts");
  if (!all.is_object()) throw Wrong("want \"layouts\" as an object");
  std::map<std::string, std::string> layouts;
  for (const auto& entry : all.items()) layouts[entry.key()] = text(all, entry.key().c_str());
  return layouts;
}

// Stops at once at what is nested too deep, before any memory goes into it.
json parse(Bytes in) {
  const auto check = [](int depth, json::parse_event_t, json&) {
    if (depth > manifest_depth_max) throw Wrong("is nested too deep");
    return true;
  };
  const std::string_view all = as_text(in);
  json document = json::parse(all.begin(), all.end(), check);
  if (!document.is_object()) throw Wrong("want an object");
  return document;
}

Manifest decode(Bytes in, SnapshotId snapshot) {
  const json document = parse(in);
  if (text(document, "format") != manifest_format)
    throw Wrong(concat("want the format \"", manifest_format, "\""));
  const auto version = number<std::uint32_t>(document, "version");
  if (version < manifest_version_min || version > manifest_version) {
    throw OtherVersion(concat("this program reads versions ", manifest_version_min, " to ",
                              manifest_version, " of the format, found ", version));
  }
  const json& content = member(document, "content");
  if (!content.is_object()) throw Wrong("want \"content\" as an object");
  const std::uint64_t want = hex_number(document, "checksum");
  if (const std::string found = content_checksum(content); to_hex(want) != found) {
    throw Wrong(concat("want a content with the checksum ", to_hex(want), ", found ", found));
  }
  Manifest manifest;
  manifest.snapshot = number<SnapshotId>(content, "snapshot");
  manifest.epoch = number<Epoch>(content, "epoch");
  manifest.job = hex(content, "job");
  if (version >= 2) manifest.layouts = layouts_of(content);
  if (version >= 3) manifest.nodes = nodes_of(content);
  // The version is not a part of the checksum, and a bit of it may have flipped.
  for (const auto& [name, since] : {std::pair("layouts", 2u), std::pair("nodes", 3u)}) {
    if (version < since && content.contains(name)) {
      throw Wrong(concat("want no \"", name, "\" in version ", version, ", found some"));
    }
  }
  manifest.created = number<std::uint64_t>(content, "created");
  const json& finished = member(content, "finished");
  if (!finished.is_boolean()) throw Wrong("want \"finished\" as true or false");
  manifest.finished = finished.get<bool>();
  manifest.parts = parts_of(content);
  if (manifest.snapshot != snapshot) {
    throw Wrong(concat("want snapshot ", snapshot, ", found ", manifest.snapshot));
  }
  return manifest;
}

}  // namespace

Result<std::string> encode_manifest(const Manifest& manifest) {
  json parts = json::array();
  std::set<ReplicaId> seen;
  for (const Part& part : manifest.parts) {
    ENSURE(seen.insert(part.replica).second);  // A reader would refuse it.
    json entry = {
        {"replica", part.replica}, {"bytes", part.bytes}, {"checksum", to_hex(part.checksum)}};
    if (part.indexed) {
      json files = json::array();
      for (const PartFile& file : part.files) {
        files.push_back(json::array({file.snapshot, file.replica}));
      }
      entry["files"] = std::move(files);
    }
    parts.push_back(std::move(entry));
  }
  json nodes = json::array();
  for (const NodeParts& node : manifest.nodes) {
    nodes.push_back(
        {{"name", node.name}, {"replicas", node.replicas}, {"key_groups", node.key_groups}});
  }
  const json content = {{"snapshot", manifest.snapshot}, {"epoch", manifest.epoch},
                        {"job", to_hex(manifest.job)},   {"finished", manifest.finished},
                        {"created", manifest.created},   {"parts", std::move(parts)},
                        {"layouts", manifest.layouts},   {"nodes", std::move(nodes)}};
  const json document = {{"format", manifest_format},
                         {"version", manifest_version},
                         {"checksum", content_checksum(content)},
                         {"content", content}};
  std::string out = document.dump(1) + '\n';
  if (out.size() > manifest_bytes_max) {
    return Error{Errc::refused,
                 concat("manifest of snapshot ", manifest.snapshot, ": want at most ",
                        manifest_bytes_max, " bytes, found ", out.size())};
  }
  return out;
}

Result<Manifest> decode_manifest(const std::string& file, Bytes text, SnapshotId snapshot) {
  try {
    return decode(text, snapshot);
  } catch (const OtherVersion& other) {
    return Error{Errc::refused, concat(file, ": ", std::string_view(other.what()))};
  } catch (const Wrong& wrong) {
    return Error{Errc::corrupt, concat(file, ": ", std::string_view(wrong.what()))};
  } catch (const json::parse_error& wrong) {
    return Error{Errc::corrupt,
                 concat(file, ": want JSON, found something else at byte ", wrong.byte)};
  } catch (const json::exception&) {
    return Error{Errc::corrupt, concat(file, ": want a manifest, found other JSON")};
  }
}

}  // namespace piracema::store
