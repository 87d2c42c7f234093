#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <string>

#include "ckpt/image/manifest.h"

namespace piracema::ckpt {

/// Before a restore: files that have grown are cut to the size they had, copies put back;
/// what a restart that was killed has left beside files that were deleted goes. Checks all before
/// it changes any. Errc::failed naming one that is missing or too short, that was only read and has
/// another size, or a program that is not what it was.
Result<Done> roll_back(const Record& record, const std::string& parts);

/// That alone: criu gives a deleted file a name while it makes the processes that have it open, and
/// does not go over one that a restart that was killed has left. Errc::io.
Result<Done> remove_names_for_a_while(const Record& record);

/// Nothing would be changed by `roll_back`: the files have the sizes that were recorded, and none
/// has a copy, as after a stop as a rule.
bool is_rolled_back(const Record& record);

/// `roll_back` for the parts of one of several hosts, by the record among them: gives the number of
/// the first process there. Errc::corrupt, too.
Result<std::uint32_t> roll_back_part(const std::string& parts);

}  // namespace piracema::ckpt
