#pragma once

#include <piracema/codec.h>
#include <piracema/operator.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace piracema {

/// What a window from `from` to just before `to` has gathered of one key.
template <class Key, class Value>
struct WindowResult {
  Key key{};
  Value value{};
  EventTime from{}, to{};

  /// For a window over windows: the last moment that belongs to it.
  EventTime time() const { return to - EventTime::duration(1); }

  template <class Layout>
  static void describe(Layout& layout) {
    layout.template collection<Key, Value>("window(");
  }
};

/// One that is not copied as it is: both times, the length of the key, the key, the value.
template <class Key, class Value>
requires(!detail::RawCopied<WindowResult<Key, Value>>) struct Codec<WindowResult<Key, Value>> {
  static constexpr std::size_t fixed_bytes = 0;

  static void encode(const WindowResult<Key, Value>& result, Buffer& out) {
    const Head head{ns(result.from), ns(result.to), 0};
    const std::size_t at = out.size();
    out.append(&head, sizeof head);
    Codec<Key>::encode(result.key, out);
    const std::uint64_t length = out.size() - at - sizeof head;
    std::memcpy(out.data() + at + offsetof(Head, key_bytes), &length, sizeof length);
    Codec<Value>::encode(result.value, out);
  }
  static WindowResult<Key, Value> decode(Bytes in) {
    Head head{};
    if (in.size() < sizeof head) detail::wrong_size(sizeof head, in.size());
    std::memcpy(&head, in.data(), sizeof head);
    in = in.subspan(sizeof head);
    if (head.key_bytes > in.size()) detail::wrong_size(head.key_bytes, in.size());
    return {Codec<Key>::decode(in.first(head.key_bytes)),
            Codec<Value>::decode(in.subspan(head.key_bytes)), time(head.from), time(head.to)};
  }

 private:
  struct Head {
    std::int64_t from = 0, to = 0;
    std::uint64_t key_bytes = 0;
  };
  static std::int64_t ns(EventTime time) { return time.time_since_epoch().count(); }
  static EventTime time(std::int64_t ns) { return EventTime(EventTime::duration(ns)); }
};

}  // namespace piracema
