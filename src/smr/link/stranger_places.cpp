#include "smr/link/stranger_places.h"

#include <algorithm>

namespace piracema::smr {

std::optional<StrangerPlaces::Number> StrangerPlaces::enter(Number who, const std::string& address,
                                                            bool is_member) {
  Part& places = part(is_member);
  std::optional<Number> goes;
  std::string from = address;
  const auto own = places.addresses.find(address);
  if (own != places.addresses.end() && own->second.size() >= of_address_max) {
    goes = own->second.front();
  } else if (places.count >= (is_member ? of_members_max : all_max)) {
    const auto most = std::max_element(
        places.addresses.begin(), places.addresses.end(),
        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    from = most->first;
    goes = most->second.front();
  }
  if (goes) leave(*goes, from, is_member);
  places.addresses[address].push_back(who);
  places.count += 1;
  return goes;
}

void StrangerPlaces::leave(Number who, const std::string& address, bool is_member) {
  Part& places = part(is_member);
  const auto found = places.addresses.find(address);
  if (found == places.addresses.end()) return;
  places.count -= std::erase(found->second, who);
  if (found->second.empty()) places.addresses.erase(found);
}

}  // namespace piracema::smr
