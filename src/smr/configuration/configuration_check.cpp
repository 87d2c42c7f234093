#include "smr/configuration/configuration_check.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/crypto.h"
#include "base/text.h"
#include "net/socket/host_port.h"
#include "smr/link/keys.h"
#include "smr/order/messages/settings.h"

namespace piracema::smr {

namespace {

static_assert(checkpoint_every_min >= view_delay);

constexpr std::size_t replicas_max = 128;
constexpr std::size_t clients_max = 100'000;

std::optional<Finding> check_key(const std::string& section, const std::string& text,
                                 std::map<std::string, std::string>& owners) {
  if (text.empty()) return Finding{section, "want a public_key, found none"};
  const auto key = parse_public_key(text);
  if (!key) return Finding{section + ".public_key", key.error().message};
  const auto [owner, is_new] = owners.emplace(hex_of(*key), section);
  if (is_new) return std::nullopt;
  return Finding{section + ".public_key",
                 concat("is also that of ", owner->second, ": two with one identity")};
}

std::optional<Finding> check_replicas(const Configuration& c,
                                      std::map<std::string, std::string>& keys) {
  std::map<std::string, std::string> addresses;
  std::set<std::uint32_t> ids;
  for (const auto& replica : c.replicas) {
    const std::string section = concat("replica.", replica.id);
    if (!ids.insert(replica.id).second) return Finding{section, "two with one identity"};
    if (replica.address.empty()) return Finding{section, "want an address, found none"};
    const auto address = net::HostPort::parse(replica.address);
    if (!address || address->port == 0) {
      return Finding{section + ".address",
                     address ? "want a port, found 0" : address.error().message};
    }
    // One that was added may live where another one was.
    if (!replica.added) {
      const auto [other, is_new] = addresses.emplace(address->text(), section);
      if (!is_new) {
        return Finding{section + ".address", concat("is also that of ", other->second)};
      }
    }
    if (auto found = check_key(section, replica.public_key, keys)) return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Finding> check(const Configuration& c) {
  if (c.name.empty() || c.name.size() > 100) {
    return Finding{"group.name", concat("want 1 to 100 bytes, found ", c.name.size())};
  }
  const auto n = static_cast<std::size_t>(
      std::count_if(c.replicas.begin(), c.replicas.end(),
                    [](const Configuration::Replica& replica) { return !replica.added; }));
  const std::size_t wanted = (c.byzantine ? 3 : 2) * std::size_t{c.f} + 1;
  if (n < wanted || n > replicas_max) {
    return Finding{"group.f", concat("want ", wanted, " replicas or more (", c.byzantine ? 3 : 2,
                                     "f + 1) to outlive f = ", c.f,
                                     c.byzantine ? " byzantine faults" : " crashes", ", at most ",
                                     replicas_max, ", found ", n)};
  }
  std::map<std::string, std::string> keys;
  if (auto found = check_replicas(c, keys)) return found;
  if (c.clients.size() > clients_max) {
    return Finding{"client", concat("want at most ", clients_max, ", found ", c.clients.size())};
  }
  for (const auto& client : c.clients) {
    // The others are those of the processes of replicas.
    if (client.id >> 63 != 0) {
      return Finding{concat("client.", client.id), "want a number below 2^63"};
    }
    if (auto found = check_key(concat("client.", client.id), client.public_key, keys)) return found;
  }
  if (!c.administrator.empty()) {
    if (const auto key = parse_public_key(c.administrator); !key) {
      return Finding{"group.administrator", key.error().message};
    }
  }
  if (c.checkpoint_every < checkpoint_every_min || c.checkpoint_every > checkpoint_every_max) {
    return Finding{"settings.checkpoint_every",
                   concat("want a number from ", checkpoint_every_min, " to ", checkpoint_every_max,
                          ", found ", c.checkpoint_every)};
  }
  if (c.operation_bytes_max == 0 || c.operation_bytes_max > std::size_t{16} << 20) {
    return Finding{"settings.operation_bytes_max", "want 1 byte to 16 MiB"};
  }
  return std::nullopt;
}

Result<Done> validate(const Configuration& configuration) {
  prepare_crypto();
  if (const auto found = check(configuration)) {
    return Error{Errc::config, concat(found->name, ": ", found->what)};
  }
  return Done{};
}

}  // namespace piracema::smr
