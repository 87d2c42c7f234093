#include "council/member.h"

#include "net/socket/address.h"

namespace piracema::council {

std::string machine_of(const Member& member) {
  const auto address = net::Address::parse(member.replica);
  return address ? address->host() : std::string();
}

}  // namespace piracema::council
