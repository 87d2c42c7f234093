#include "store/snapshot/savepoint.h"

#include <algorithm>

#include "base/hex.h"
#include "base/parse.h"
#include "base/text.h"
#include "wire/checksum.h"

namespace piracema::store {

namespace {

constexpr std::string_view savepoint_format = "piracema savepoint ", savepoint_version = "1";

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

bool is_savepoint_name(std::string_view name) {
  // A file that is being written is called NAME.tmp-...
  return !name.empty() && name.size() <= 64 && is_letter_or_digit(name.front()) &&
         name.find(".tmp-") == name.npos && std::all_of(name.begin(), name.end(), [](char c) {
           return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-';
         });
}

bool ends_in_uuid(std::string_view name) {
  constexpr std::string_view uuid = "-00000000-0000-0000-0000-000000000000";
  if (name.size() < uuid.size()) return false;
  name.remove_prefix(name.size() - uuid.size());
  return std::equal(name.begin(), name.end(), uuid.begin(), [](char c, char form) {
    return form == '-' ? c == '-' : (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
}

Result<Done> check_savepoint_name(std::string_view name) {
  if (is_savepoint_name(name)) return Done{};
  return Error{Errc::config,
               concat("the name of a savepoint: want up to 64 letters, digits and ._-, a letter or "
                      "digit first, found '",
                      name, "'")};
}

// One line, so that people can read it, too.
std::string encode_savepoint(const std::string& name, SnapshotId snapshot) {
  const std::uint64_t sum = wire::checksum(as_bytes(concat(name, " ", snapshot)));
  return concat(savepoint_format, savepoint_version, ": snapshot ", snapshot, ", checksum ",
                to_hex(sum), "\n");
}

Result<SnapshotId> decode_savepoint(const std::string& file, const std::string& name, Bytes text) {
  const std::string found(as_text(text));
  if (found.starts_with(savepoint_format) &&
      !found.starts_with(concat(savepoint_format, savepoint_version, ": "))) {
    return Error{Errc::refused,
                 concat(file, ": want version ", savepoint_version, " of a savepoint")};
  }
  const std::string before = concat(savepoint_format, savepoint_version, ": snapshot ");
  if (found.starts_with(before)) {
    const std::string rest = found.substr(before.size());
    const auto number = parse_number<SnapshotId>(rest.substr(0, rest.find(',')));
    if (number && found == encode_savepoint(name, *number)) return *number;
  }
  return Error{Errc::corrupt, concat(file, ": want the savepoint '", name, "', found other bytes")};
}

}  // namespace piracema::store
