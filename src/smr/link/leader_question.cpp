#include "smr/link/leader_question.h"

#include <algorithm>

#include "base/hint.h"
#include "base/text.h"
#include "smr/link/crypto.h"
#include "wire/fields.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace piracema::smr {

namespace {

/// "PSMW".
constexpr std::uint32_t question_magic = 0x574D5350;
constexpr std::size_t question_bytes = 320;
/// Names of hosts have at most 253.
constexpr std::size_t address_bytes_max = 280;

}  // namespace

std::array<std::byte, 16> group_digest(const std::string& group) {
  return derive_key({}, "piracema smr group", as_bytes(group));
}

Buffer leader_question(const std::string& group) {
  Buffer out;
  wire::Writer writer(out);
  writer.number(question_magic);
  writer.number(wire_version);
  const auto digest = group_digest(group);
  out.append(digest.data(), digest.size());
  out.resize(question_bytes);
  return out;
}

bool is_leader_question(Bytes message) {
  return message.size() >= 4 && wire::Reader(message).number<std::uint32_t>() == question_magic;
}

Result<Done> check_leader_question(Bytes message, const std::string& group) {
  if (message.size() != question_bytes) {
    return Error{Errc::corrupt,
                 concat("who leads: want ", question_bytes, " bytes, found ", message.size())};
  }
  const auto version = wire::Reader(message.subspan(4)).number<std::uint16_t>();
  if (version != wire_version) {
    return Error{Errc::refused,
                 with_hint(concat("who leads: want version ", wire_version, ", found ", version),
                           other_version_hint)};
  }
  const auto digest = group_digest(group);
  if (!std::equal(digest.begin(), digest.end(), message.begin() + 6)) {
    return Error{Errc::refused,
                 concat("who leads: want the group '", group, "', found another one")};
  }
  return Done{};
}

Buffer encode(LeaderAnswer answer) {
  if (answer.address.size() > address_bytes_max) answer.address.clear();
  return wire::encode(std::move(answer));
}

Result<LeaderAnswer> decode_leader_answer(Bytes message) {
  return wire::decode<LeaderAnswer>(message);
}

}  // namespace piracema::smr
