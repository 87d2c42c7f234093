#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

/// JSON that was written by us and may have become anything since; for this room's documents.
namespace piracema::ckpt {

/// Of the envelope, and of what is in it.
constexpr std::uint32_t document_version = 1;
constexpr std::size_t document_bytes_max = std::size_t{8} << 20;

/// Thrown by the functions below and caught by `read_document`.
struct WrongDocument : std::runtime_error {
  explicit WrongDocument(const std::string& what, Errc code_ = Errc::corrupt)
      : std::runtime_error(what), code(code_) {}
  Errc code;
};

/// Members of an object; WrongDocument if they are missing, of another type or out of range.
const nlohmann::json& member(const nlohmann::json& object, const char* name);
std::uint64_t number_in(const nlohmann::json& object, const char* name,
                        std::uint64_t max = UINT64_MAX);
std::string text_in(const nlohmann::json& object, const char* name);
bool flag_in(const nlohmann::json& object, const char* name);
/// 16 hexadecimal digits.
std::uint64_t hex_in(const nlohmann::json& object, const char* name);

/// Names of files are bytes: those that are not printable ASCII, and '%', become %xx.
std::string escape(const std::string& bytes);
/// Of a text that `escape` wrote.
std::string unescape(const std::string& text);

/// `content` inside of an envelope with format, version and checksum.
std::string seal(const char* format, const nlohmann::json& content);
/// Opens the envelope, checks it and calls `read` with the content. Errors begin with `file`.
Result<Done> read_document(const std::string& file, const char* format, Bytes text,
                           const std::function<void(const nlohmann::json& content)>& read);

}  // namespace piracema::ckpt
