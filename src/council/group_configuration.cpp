#include "council/group_configuration.h"

#include <algorithm>

#include "base/text.h"
#include "smr/link/crypto.h"
#include "smr/link/keys.h"

namespace piracema::council {

namespace {

// A leader that is silent for so long is followed by another one; workers and agents wait as long
// before they look for it (cluster::others_after).
constexpr std::chrono::milliseconds leader_timeout{1'000};
// Metadata grow with the graph and the numbers of replicas.
constexpr std::size_t operation_bytes = std::size_t{16} << 20;

}  // namespace

Result<smr::Configuration> group_configuration(const Seat& seat,
                                               const std::vector<Member>& members) {
  smr::KeyPair::Seed administrator;
  if (!smr::from_hex(seat.administrator, administrator.data(), administrator.size())) {
    return Error{Errc::config, "the seat of a coordinator has no key of an administrator"};
  }
  smr::Configuration configuration;
  configuration.name = concat("coordinators of ", seat.token.substr(0, 8));
  configuration.f = static_cast<std::uint32_t>((seat.first.size() - 1) / 2);
  configuration.durable = false;
  configuration.leader_timeout = leader_timeout;
  configuration.operation_bytes_max = operation_bytes;
  configuration.administrator = smr::hex_of(Bytes(smr::KeyPair(administrator).public_key()));
  for (const Member& member : seat.first) {
    configuration.replicas.push_back({member.id, member.replica, member.public_key});
  }
  for (const Member& member : members) {
    const bool is_first = std::any_of(seat.first.begin(), seat.first.end(),
                                      [&](const Member& first) { return first.id == member.id; });
    if (is_first) continue;
    configuration.replicas.push_back({member.id, member.replica, member.public_key, true});
  }
  return configuration;
}

}  // namespace piracema::council
