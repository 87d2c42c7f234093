#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

namespace piracema::smr {

/// Places at a door for those who have yet to show who they are. An address has few of them, and
/// when it wants more its own oldest has to go: so it keeps no other address away, however fast it
/// comes back. Addresses of members have places that nobody else can take. Pure.
class StrangerPlaces {
 public:
  static constexpr std::size_t of_address_max = 128;
  /// Of all addresses but those of members, and of all of those.
  static constexpr std::size_t all_max = 1'024, of_members_max = 1'024;

  /// The caller's number for a stranger; larger is later.
  using Number = std::uint64_t;

  /// Takes a stranger in. Who has to go for it: the oldest of its own address if that has as many
  /// as it may, else, if all places are taken, the oldest of the address that has the most.
  std::optional<Number> enter(Number who, const std::string& address, bool is_member);
  void leave(Number who, const std::string& address, bool is_member);

 private:
  struct Part {
    /// The oldest first.
    std::map<std::string, std::deque<Number>> addresses;
    std::size_t count = 0;
  };
  Part& part(bool is_member) { return is_member ? members_ : others_; }

  Part members_, others_;
};

}  // namespace piracema::smr
