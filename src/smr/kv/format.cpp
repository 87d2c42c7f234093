#include "smr/kv/format.h"

#include <set>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/text.h"
#include "wire/fields.h"

namespace piracema::smr::kv {

namespace {

/// Leaves places for all that may ever follow.
constexpr Index load_index_max = Index{1} << 62;
constexpr std::uint64_t grant_ttl_min = 1'000'000;
constexpr std::uint64_t grant_ttl_max = std::uint64_t{365 * 24 * 3'600} * 1'000'000'000;

template <class T, std::size_t i = 0>
constexpr std::uint8_t number_of() {
  if constexpr (std::is_same_v<T, std::variant_alternative_t<i, Operation>>) {
    return i;
  } else {
    return number_of<T, i + 1>();
  }
}

template <class T>
Buffer encode_as(const T& operation) {
  Buffer out;
  wire::Writer(out).number(number_of<T>());
  T copy = operation;  // fields() is for reading and writing alike.
  wire::FieldWriter(out).put(copy);
  return out;
}

template <std::size_t i = 0>
Result<Operation> decode_as(std::size_t number, Bytes bytes) {
  if constexpr (i < std::variant_size_v<Operation>) {
    if (number != i) return decode_as<i + 1>(number, bytes);
    auto decoded = wire::decode<std::variant_alternative_t<i, Operation>>(bytes);
    if (!decoded) return decoded.error();
    return Operation(std::in_place_index<i>, std::move(*decoded));
  } else {
    return Error{Errc::corrupt, concat("want an operation, found number ", number)};
  }
}

bool is_key(const std::string& text) { return !text.empty() && text.size() <= key_bytes_max; }
bool is_prefix(const std::string& text) { return text.size() <= key_bytes_max; }
bool holds(const std::optional<Fence>& fence) { return !fence || is_key(fence->key); }

bool in_limits(const Put& o) {
  return is_key(o.key) && o.value.size() <= value_bytes_max && holds(o.fence);
}
bool in_limits(const Remove& o) { return is_key(o.key) && holds(o.fence); }
bool in_limits(const Get& o) { return is_key(o.key); }
bool in_limits(const List& o) { return is_prefix(o.prefix) && is_prefix(o.after); }
bool in_limits(const Watch& o) { return o.is_prefix ? is_prefix(o.key) : is_key(o.key); }
bool in_limits(const Grant& o) { return o.ttl >= grant_ttl_min && o.ttl <= grant_ttl_max; }
bool in_limits(const KeepAlive&) { return true; }
bool in_limits(const Revoke&) { return true; }
bool in_limits(const Expire&) { return true; }
bool in_limits(const Load& o) {
  bool right = o.entries.size() <= list_max && o.index < load_index_max;
  for (const Entry& entry : o.entries) {
    right = right && is_key(entry.key) && entry.value.size() <= value_bytes_max &&
            entry.lease == 0 && entry.created <= entry.changed && entry.changed <= o.index;
  }
  return right;
}
bool in_limits(const Transaction& o) {
  bool right =
      o.conditions.size() + o.fences.size() + o.puts.size() + o.removes.size() <= transaction_max;
  std::set<std::string_view> changed;
  for (const Condition& condition : o.conditions) right = right && is_key(condition.key);
  for (const Fence& fence : o.fences) right = right && is_key(fence.key);
  for (const Put& put : o.puts) right = right && in_limits(put) && changed.insert(put.key).second;
  for (const Remove& remove : o.removes) {
    right = right && in_limits(remove) && changed.insert(remove.key).second;
  }
  return right;
}

}  // namespace

Buffer encode(const Put& o) { return encode_as(o); }
Buffer encode(const Remove& o) { return encode_as(o); }
Buffer encode(const Get& o) { return encode_as(o); }
Buffer encode(const List& o) { return encode_as(o); }
Buffer encode(const Watch& o) { return encode_as(o); }
Buffer encode(const Grant& o) { return encode_as(o); }
Buffer encode(const KeepAlive& o) { return encode_as(o); }
Buffer encode(const Revoke& o) { return encode_as(o); }
Buffer encode(const Expire& o) { return encode_as(o); }
Buffer encode(const Load& o) { return encode_as(o); }
Buffer encode(const Transaction& o) { return encode_as(o); }

Result<Operation> decode_operation(Bytes bytes) {
  if (bytes.empty()) return Error{Errc::corrupt, "want an operation, found nothing"};
  auto operation = decode_as(static_cast<std::size_t>(bytes[0]), bytes.subspan(1));
  if (!operation) return operation;
  if (!std::visit([](const auto& o) { return in_limits(o); }, *operation)) {
    return Error{Errc::corrupt, "the operation is beyond its limits"};
  }
  return operation;
}

const char* name_of(Status status) {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::not_found:
      return "not found";
    case Status::conflict:
      return "another version is there";
    case Status::no_lease:
      return "the lease has ended, or never was";
    case Status::fenced:
      return "the fence does not hold";
    case Status::compacted:
      return "too long ago";
    case Status::full:
      return "as many leases as there may be";
    case Status::bad_request:
      return "no such operation, or beyond its limits";
  }
  return "?";
}

Buffer encode_reply(const Reply& reply) { return wire::encode(reply); }

Result<Reply> decode_reply(Bytes bytes) {
  auto reply = wire::decode<Reply>(bytes);
  if (!reply) return reply;
  bool known = reply->status <= Status::bad_request;
  for (const Event& event : reply->events) known = known && event.change <= Change::expired;
  if (!known) return Error{Errc::corrupt, "a reply of another version"};
  return reply;
}

}  // namespace piracema::smr::kv
