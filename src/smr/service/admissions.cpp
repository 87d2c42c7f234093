#include "smr/service/admissions.h"

#include <algorithm>

#include "base/text.h"
#include "wire/fields.h"

namespace piracema::smr {

namespace {

bool is_key(const std::string& text) {
  return text.empty() ||
         (text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos);
}

}  // namespace

Buffer encode(Admission admission) { return wire::encode(std::move(admission)); }

Admissions::Answer Admissions::change(Sequence sequence, Bytes operation) {
  if (sequence < last_.sequence) {
    const Buffer before = wire::encode(Outnumbered{last_.sequence});
    return {sequence, ReplyStatus::forgotten, std::string(as_text(before))};
  }
  const auto refuse = [&](std::string why) {
    return last_ = {sequence, ReplyStatus::refused, std::move(why)};
  };
  auto admission = wire::decode<Admission>(operation);
  if (!admission || admission->client == 0 || !is_key(admission->public_key)) {
    return refuse("want a client above 0 and a public key of 64 hexadecimal digits");
  }
  if (keys_.size() >= clients_max && !keys_.contains(admission->client)) {
    return refuse(concat(clients_max, " clients were admitted or dismissed, no more are taken"));
  }
  keys_[admission->client] = admission->public_key;
  latest_ = *std::move(admission);
  return last_ = {sequence, ReplyStatus::done, ""};
}

bool Admissions::is_dismissed(ClientId client) const {
  if (keys_.empty()) return false;
  const auto found = keys_.find(client);
  return found != keys_.end() && found->second.empty();
}

std::vector<Admission> Admissions::all() const {
  std::vector<Admission> all;
  for (const auto& [client, key] : keys_) all.push_back({client, key});
  return all;
}

std::function<void(wire::Writer&)> Admissions::snapshot() const {
  return [last = last_, all = all()](wire::Writer& out) {
    out.number(last.sequence);
    out.number(static_cast<std::uint8_t>(last.status));
    out.bytes(as_bytes(last.text));
    out.number(static_cast<std::uint64_t>(all.size()));
    for (const Admission& one : all) {
      out.number(one.client);
      out.bytes(as_bytes(one.public_key));
    }
  };
}

void Admissions::read(wire::Reader& in) {
  keys_.clear();
  latest_ = {};
  last_.sequence = in.number<Sequence>();
  const auto status = in.number<std::uint8_t>();
  if (status > static_cast<std::uint8_t>(ReplyStatus::refused)) return in.fail("a status");
  last_.status = static_cast<ReplyStatus>(status);
  last_.text = as_text(in.bytes());
  const std::size_t count = in.count(16);
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    const auto client = in.number<ClientId>();
    const std::string key(as_text(in.bytes()));
    if (!is_key(key) || client == 0) return in.fail("an admission of nobody");
    keys_[client] = key;
  }
}

}  // namespace piracema::smr
