#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <string>

#include "ckpt/manifest.h"

namespace piracema::ckpt {

/// Before a restore: files that have grown are cut to the size they had, copies put back. Checks
/// all before it changes any. Errc::failed naming one that is missing or too short, that was only
/// read and has another size, or a program that is not what it was.
Result<Done> roll_back(const Record& record, const std::string& parts);

/// The same for the parts of one of several hosts, by the record among them: gives the number of
/// the first process there. Errc::corrupt, too.
Result<std::uint32_t> roll_back_part(const std::string& parts);

}  // namespace piracema::ckpt
