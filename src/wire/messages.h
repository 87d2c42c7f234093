#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "wire/fields.h"
#include "wire/frame.h"

namespace piracema::wire {

/// Messages of a variant as frames: the kind of a frame is the message's place in the variant, so
/// that the order there is the protocol, counted from `first`.
template <class Variant>
Frame message_to_frame(const Variant& message, std::uint8_t first = 0) {
  Frame frame;
  frame.kind = static_cast<std::uint8_t>(first + message.index());
  frame.head = std::visit([](const auto& m) { return encode(m); }, message);
  return frame;
}

/// Errc::corrupt for a frame that is none of them; `what` they are is said.
template <class Variant, std::size_t I = 0>
Result<Variant> message_from_frame(const Frame& frame, const char* what, std::uint8_t first = 0) {
  if constexpr (I == std::variant_size_v<Variant>) {
    return Error{Errc::corrupt,
                 std::string(what) + ": kind " + std::to_string(frame.kind) + " is unknown"};
  } else {
    if (frame.kind != first + I) return message_from_frame<Variant, I + 1>(frame, what, first);
    auto message = decode<std::variant_alternative_t<I, Variant>>(frame.head);
    if (!message) {
      return Error{Errc::corrupt, std::string(what) + " of kind " + std::to_string(frame.kind) +
                                      ": " + message.error().message};
    }
    return Variant(std::in_place_index<I>, *std::move(message));
  }
}

}  // namespace piracema::wire
