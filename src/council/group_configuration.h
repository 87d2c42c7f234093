#pragma once

#include <piracema/smr/configuration.h>

#include <chrono>
#include <vector>

#include "council/seats.h"

namespace piracema::council {

/// After it nobody knows whether an operation is decided.
constexpr std::chrono::milliseconds operation_timeout{3'000};

/// The group of the coordinators, as whoever takes part in it or changes it has to know it: those
/// that it began with, and those of `members` that have come since. Errc::config.
Result<smr::Configuration> group_configuration(const Seat& seat,
                                               const std::vector<Member>& members);

}  // namespace piracema::council
