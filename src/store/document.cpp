#include "store/document.h"

#include "base/hex.h"
#include "base/text.h"
#include "wire/checksum.h"

namespace piracema::ckpt {

using nlohmann::json;

namespace {

// envelope > content > list > entry: nothing of ours is deeper.
constexpr int depth_max = 5;

// Names in order, no white space: one text for one content, whoever has laid out the file.
std::string checksum_of(const json& content) {
  const std::string text = content.dump(-1, ' ', true);
  return store::to_hex(wire::checksum(as_bytes(text)));
}

json parse(Bytes text) {
  return json::parse(as_text(text), [](int depth, json::parse_event_t, json&) {
    if (depth > depth_max) throw WrongDocument("want no more than five levels, found more");
    return true;
  });
}

}  // namespace

const json& member(const json& object, const char* name) {
  if (!object.is_object()) throw WrongDocument(concat("want \"", name, "\" in an object"));
  const auto found = object.find(name);
  if (found == object.end()) throw WrongDocument(concat("want \"", name, "\", found none"));
  return *found;
}

std::uint64_t number_in(const json& object, const char* name, std::uint64_t max) {
  const json& value = member(object, name);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > max) {
    throw WrongDocument(concat("want \"", name, "\" as a whole number up to ", max));
  }
  return value.get<std::uint64_t>();
}

std::string text_in(const json& object, const char* name) {
  const json& value = member(object, name);
  if (!value.is_string()) throw WrongDocument(concat("want \"", name, "\" as a text"));
  return value.get<std::string>();
}

bool flag_in(const json& object, const char* name) {
  const json& value = member(object, name);
  if (!value.is_boolean()) throw WrongDocument(concat("want \"", name, "\" as true or false"));
  return value.get<bool>();
}

std::uint64_t hex_in(const json& object, const char* name) {
  const auto bytes = store::from_hex(text_in(object, name));
  if (!bytes || bytes->size() != 8) {
    throw WrongDocument(concat("want \"", name, "\" as 16 hexadecimal digits"));
  }
  std::uint64_t value = 0;
  for (const char byte : *bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

std::string escape(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    if (c > ' ' && c < 0x7F && c != '%') {
      text += c;
    } else {
      text += '%' + store::to_hex(std::string_view(&c, 1));
    }
  }
  return text;
}

std::string unescape(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      bytes += text[i];
      continue;
    }
    const auto byte = store::from_hex(std::string_view(text).substr(i + 1, 2));
    if (!byte || byte->size() != 1) throw WrongDocument(concat("want %xx, found ", text));
    bytes += *byte;
    i += 2;
  }
  return bytes;
}

std::string seal(const char* format, const json& content) {
  const json document = {{"format", format},
                         {"version", document_version},
                         {"checksum", checksum_of(content)},
                         {"content", content}};
  return document.dump(1) + '\n';
}

Result<Done> read_document(const std::string& file, const char* format, Bytes text,
                           const std::function<void(const json& content)>& read) {
  try {
    const json document = parse(text);
    if (text_in(document, "format") != format) {
      throw WrongDocument(concat("want a \"", format, "\", found another document"));
    }
    if (const auto version = number_in(document, "version"); version != document_version) {
      throw WrongDocument(concat("this program reads version ", document_version,
                                 " of the format, found ", version),
                          Errc::refused);
    }
    const json& content = member(document, "content");
    if (text_in(document, "checksum") != checksum_of(content)) {
      throw WrongDocument("the checksum differs");
    }
    read(content);
    return Done{};
  } catch (const WrongDocument& wrong) {
    return Error{wrong.code, concat(file, ": ", std::string_view(wrong.what()))};
  } catch (const json::parse_error& wrong) {
    return Error{Errc::corrupt,
                 concat(file, ": want JSON, found something else at byte ", wrong.byte)};
  } catch (const json::exception&) {
    return Error{Errc::corrupt, concat(file, ": want a document of ours, found other JSON")};
  }
}

}  // namespace piracema::ckpt
