#include "ckpt/image/manifest.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/hex.h"
#include "base/text.h"
#include "store/document.h"

namespace piracema::ckpt {

using nlohmann::json;

namespace {

constexpr const char* manifest_format = "piracema checkpoint";
constexpr const char* record_format = "piracema checkpoint record";
constexpr std::uint64_t bytes_max = std::uint64_t{1} << 50;

const json& list_in(const json& object, const char* name) {
  const json& list = member(object, name);
  if (!list.is_array()) throw WrongDocument(concat("want \"", name, "\" as a list"));
  return list;
}

// A flat name, after the number of a host where there are several: it can lead nowhere but into the
// image's directory.
std::string part_name(const json& object, const char* name) {
  const std::string whole = text_in(object, name);
  std::string_view text = whole;
  const std::size_t slash = text.find('/');
  if (slash != text.npos && slash > 0 && slash <= 3 &&
      text.find_first_not_of("0123456789") == slash)
    text.remove_prefix(slash + 1);
  const bool plain =
      !text.empty() && text.size() <= 100 && text.front() != '.' &&
      std::all_of(text.begin(), text.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
      });
  if (!plain) throw WrongDocument(concat("want \"", name, "\" as the name of a part"));
  return whole;
}

std::string path_in(const json& entry) {
  std::string path = unescape(text_in(entry, "path"));
  if (!path.starts_with('/')) throw WrongDocument("want \"path\" from the root on");
  return path;
}

// A list that older images do not have.
const json& list_if_any(const json& object, const char* name) {
  static const json none = json::array();
  return object.contains(name) ? list_in(object, name) : none;
}

}  // namespace

std::uint64_t Manifest::bytes() const {
  std::uint64_t sum = 0;
  for (const ImagePart& part : parts) sum += part.bytes;
  return sum;
}

std::string encode_manifest(const Manifest& manifest) {
  json parts = json::array();
  for (const ImagePart& part : manifest.parts) {
    parts.push_back(
        {{"name", part.name}, {"bytes", part.bytes}, {"checksum", store::to_hex(part.checksum)}});
  }
  return seal(manifest_format, {{"image", manifest.image},
                                {"job", store::to_hex(manifest.job)},
                                {"created", manifest.created},
                                {"parts", std::move(parts)}});
}

Result<Manifest> decode_manifest(const std::string& file, Bytes text, ImageId image) {
  Manifest manifest;
  const auto read = read_document(file, manifest_format, text, [&](const json& content) {
    manifest.image = number_in(content, "image");
    if (manifest.image != image) {
      throw WrongDocument(concat("want image ", image, ", found ", manifest.image));
    }
    manifest.job = hex_in(content, "job");
    manifest.created = number_in(content, "created", bytes_max);
    std::set<std::string> seen;
    for (const json& entry : list_in(content, "parts")) {
      ImagePart part{part_name(entry, "name"), number_in(entry, "bytes", bytes_max),
                     hex_in(entry, "checksum")};
      if (!seen.insert(part.name).second) throw WrongDocument("want each part once");
      manifest.parts.push_back(std::move(part));
    }
  });
  if (!read) return read.error();
  return manifest;
}

std::string encode_record(const Record& record) {
  json files = json::array();
  for (const FileRecord& file : record.files) {
    json entry = {{"path", escape(file.path)}, {"bytes", file.bytes}, {"writable", file.writable}};
    if (!file.copy.empty()) entry["copy"] = file.copy;
    files.push_back(std::move(entry));
  }
  json deleted = json::array();
  for (const std::string& path : record.deleted) deleted.push_back({{"path", escape(path)}});
  json programs = json::array();
  for (const ProgramRecord& program : record.programs) {
    programs.push_back({{"path", escape(program.path)},
                        {"bytes", program.bytes},
                        {"build", store::to_hex(program.build)}});
  }
  return seal(record_format, {{"root", record.root},
                              {"last_pid", record.last_pid},
                              {"resident_bytes", record.resident_bytes},
                              {"files", std::move(files)},
                              {"deleted", std::move(deleted)},
                              {"programs", std::move(programs)}});
}

Result<Record> decode_record(const std::string& file, Bytes text) {
  Record record;
  const auto read = read_document(file, record_format, text, [&](const json& content) {
    record.root = static_cast<std::uint32_t>(number_in(content, "root", 1u << 22));
    record.last_pid = static_cast<std::uint32_t>(number_in(content, "last_pid", 1u << 22));
    record.resident_bytes = number_in(content, "resident_bytes", bytes_max);
    if (record.root < 2) throw WrongDocument("want \"root\" above 1");
    for (const json& entry : list_in(content, "files")) {
      FileRecord one{
          path_in(entry), number_in(entry, "bytes", bytes_max), flag_in(entry, "writable"), {}};
      if (entry.contains("copy")) one.copy = part_name(entry, "copy");
      record.files.push_back(std::move(one));
    }
    for (const json& entry : list_if_any(content, "deleted")) {
      record.deleted.push_back(path_in(entry));
    }
    for (const json& entry : list_if_any(content, "programs")) {
      record.programs.push_back(
          {path_in(entry), number_in(entry, "bytes", bytes_max), hex_in(entry, "build")});
    }
  });
  if (!read) return read.error();
  return record;
}

}  // namespace piracema::ckpt
