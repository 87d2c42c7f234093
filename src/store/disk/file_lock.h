#pragma once

#include <piracema/error.h>

#include <string>

#include "base/fd.h"

namespace piracema::store {

/// Locks the file, which is made if need be, until what is returned (and every copy of it by fork)
/// is closed, at the latest by the kernel at the end of the process. Keeps out others in this
/// process, too. Errc::refused, "DIRECTORY: want it for one WHOM alone, found it in use by process
/// 123", if somebody has it; Errc::io with the system's reason. Waits up to a second where that
/// process has ended: what it had just begun may have its lock for a moment. A
/// process of another host looks ended. Any thread.
Result<Fd> lock_file(const std::string& path, std::string_view whom);

/// What was locked is shared from here on with others who do the same (`lock_file_with_others`),
/// and still nobody's who wants it alone. Errc::io.
Result<Done> share_lock(const Fd& lock);
/// One of those. Errors as `lock_file`: Errc::refused while somebody has it alone.
Result<Fd> lock_file_with_others(const std::string& path, std::string_view whom);

/// As `lock_file`, but waits until nobody has it; no matter how long.
Result<Fd> wait_to_lock_file(const std::string& path);

}  // namespace piracema::store
