#include "net/handshake.h"

#include <algorithm>

#include "base/text.h"
#include "wire/fields.h"

namespace piracema::net {

wire::Frame to_frame(const Greeting& greeting) {
  wire::Frame frame;
  frame.kind = handshake_kind;
  frame.head = wire::encode(greeting);
  return frame;
}

Result<Greeting> read_greeting(const wire::Frame& frame, std::string_view token) {
  if (frame.kind != handshake_kind) {
    return Error{Errc::corrupt, concat("handshake: want a frame of kind ", handshake_kind,
                                       ", found kind ", frame.kind)};
  }
  // The version comes first, whatever another version says after it.
  const auto version = wire::Reader(frame.head).number<std::uint32_t>();
  if (version != transport_version) {
    return Error{Errc::refused, concat("handshake: want version ", transport_version,
                                       " of the transport, found ", version)};
  }
  auto greeting = wire::decode<Greeting>(frame.head);
  if (!greeting) return Error{Errc::corrupt, "handshake: " + greeting.error().message};
  if (!same_secret(greeting->token, token)) {
    return Error{Errc::refused, "handshake: want this job's token, found another one"};
  }
  return greeting;
}

bool is_token(std::string_view text) {
  return text.size() == 32 &&
         text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

bool same_secret(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    difference |= static_cast<unsigned>(a[i] ^ b[i]);
  }
  return difference == 0;
}

}  // namespace piracema::net
