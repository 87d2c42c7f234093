#include "host/known_coordinators.h"

#include <utility>

#include "host/coordinator_file.h"

namespace piracema::cluster {

KnownCoordinators::KnownCoordinators(std::string token, std::vector<std::string> addresses,
                                     std::string file)
    : token_(std::move(token)), addresses_(std::move(addresses)), file_(std::move(file)) {}

void KnownCoordinators::told(const std::vector<std::string>& addresses) {
  auto right = coordinator_addresses(addresses);
  if (!right.empty()) addresses_ = std::move(right);
}

std::vector<std::string> KnownCoordinators::find() const {
  return find_coordinators(file_, token_, addresses_);
}

}  // namespace piracema::cluster
