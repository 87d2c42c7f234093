#pragma once

#include <linux/netlink.h>
#include <net/if.h>
#include <piracema/bytes.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/ensure.h"

namespace piracema::ckpt {

/// One message of netlink(7) with its attributes, which may be nested; at most 512 bytes.
class NetlinkMessage {
 public:
  NetlinkMessage(std::uint16_t type, unsigned flags) {
    header().nlmsg_len = NLMSG_HDRLEN;
    header().nlmsg_type = type;
    header().nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
  }

  nlmsghdr& header() { return *reinterpret_cast<nlmsghdr*>(room_.data()); }
  /// With what fills it up to where a next one may begin.
  Bytes bytes() { return {room_.data(), NLMSG_ALIGN(header().nlmsg_len)}; }

  void append(const void* from, std::size_t bytes) {
    const std::size_t at = NLMSG_ALIGN(header().nlmsg_len);
    ENSURE(at + bytes <=
           room_.size());  // Every message of ours is made of short names and numbers.
    if (bytes != 0) std::memcpy(room_.data() + at, from, bytes);
    header().nlmsg_len = static_cast<std::uint32_t>(at + bytes);
  }
  void attribute(std::uint16_t type, const void* value, std::size_t bytes) {
    const nlattr head{static_cast<std::uint16_t>(NLA_HDRLEN + bytes), type};
    append(&head, sizeof head);
    append(value, bytes);
  }
  void text(std::uint16_t type, std::string_view value) {
    std::array<char, IFNAMSIZ> name{};
    ENSURE(value.size() < name.size());
    std::memcpy(name.data(), value.data(), value.size());
    attribute(type, name.data(), value.size() + 1);
  }
  /// What is put in until `end` belongs to it.
  std::size_t begin(std::uint16_t type) {
    const std::size_t at = NLMSG_ALIGN(header().nlmsg_len);
    attribute(type, nullptr, 0);
    return at;
  }
  void end(std::size_t at) {
    const auto bytes = static_cast<std::uint16_t>(header().nlmsg_len - at);
    reinterpret_cast<nlattr*>(room_.data() + at)->nla_len = bytes;
  }

 private:
  alignas(nlmsghdr) std::array<std::byte, 512> room_{};
};

}  // namespace piracema::ckpt
