#include "store/s3/xml_text.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/parse.h"
#include "base/text.h"

namespace piracema::store {

namespace {

constexpr std::size_t xml_depth_max = 16;
constexpr std::string_view white = " \t\r\n";

Error corrupt(std::string_view why) {
  return {Errc::corrupt, concat("want an answer in XML, found ", why)};
}

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= 128 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_.:").find(c) != std::string_view::npos;
  });
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

// What stands between '&' and ';'.
bool append_entity(std::string& out, std::string_view name) {
  if (name == "lt") return out += '<', true;
  if (name == "gt") return out += '>', true;
  if (name == "amp") return out += '&', true;
  if (name == "quot") return out += '"', true;
  if (name == "apos") return out += '\'', true;
  if (!name.starts_with('#')) return false;
  const bool is_hex = name.starts_with("#x");
  const auto code = parse_number<std::uint32_t>(name.substr(is_hex ? 2 : 1), is_hex ? 16 : 10);
  if (!code || *code == 0 || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000)) return false;
  append_utf8(out, *code);
  return true;
}

std::optional<std::string> plain(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t at = std::min(text.find('&'), text.size());
    out += text.substr(0, at);
    text.remove_prefix(at);
    if (text.empty()) break;
    const std::size_t end = text.find(';');
    if (end == text.npos || !append_entity(out, text.substr(1, end - 1))) return std::nullopt;
    text.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace

Result<std::vector<XmlField>> read_xml(Bytes bytes) {
  std::string_view text = as_text(bytes);
  std::vector<XmlField> fields;
  /// The elements that are open, and whether one has had others in it.
  struct Open {
    std::string_view name;
    std::size_t path_bytes = 0;
    bool has_others = false;
  };
  std::vector<Open> open;
  std::string path;
  bool any = false;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  while (true) {
    const std::size_t begin = text.find('<');
    const std::string_view before = text.substr(0, begin);
    if (begin == text.npos) {
      if (before.find_first_not_of(white) != before.npos) return corrupt("text behind its end");
      break;
    }
    if (open.empty() && before.find_first_not_of(white) != before.npos) {
      return corrupt("text outside of it");
    }
    const std::size_t end = text.find('>', begin);
    if (end == text.npos) return corrupt("an element that is cut off");
    std::string_view tag = text.substr(begin + 1, end - begin - 1);
    text.remove_prefix(end + 1);
    if (tag.starts_with('?')) continue;
    if (tag.starts_with('!')) return corrupt("a declaration");
    if (tag.starts_with('/')) {
      if (open.empty() || open.back().name != tag.substr(1)) return corrupt("an end of nothing");
      if (!open.back().has_others) {
        auto value = plain(before);
        if (!value) return corrupt("an entity that is none of XML's");
        fields.push_back({path, *std::move(value)});
      }
      path.resize(open.back().path_bytes);
      open.pop_back();
      continue;
    }
    if (any && open.empty()) return corrupt("a second document");
    const bool is_empty = tag.ends_with('/');
    if (is_empty) tag.remove_suffix(1);
    const std::string_view name = tag.substr(0, tag.find_first_of(white));
    if (!is_name(name)) return corrupt("an element without a name");
    if (open.size() == xml_depth_max)
      return corrupt(concat("more than ", xml_depth_max, " levels"));
    if (!open.empty()) open.back().has_others = true;
    any = true;
    const std::size_t path_bytes = path.size();
    if (!path.empty()) path += '/';
    path += name;
    if (is_empty) {
      fields.push_back({path, ""});
      path.resize(path_bytes);
    } else {
      open.push_back({name, path_bytes});
    }
  }
  if (!open.empty()) return corrupt(concat("no end of ", open.back().name));
  if (!any) return corrupt("nothing");
  return fields;
}

std::string text_of(const std::vector<XmlField>& fields, std::string_view path) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const XmlField& field) { return field.path == path; });
  return found == fields.end() ? "" : found->text;
}

}  // namespace piracema::store
