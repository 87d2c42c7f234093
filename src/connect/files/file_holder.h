#pragma once

#include <optional>
#include <string>

namespace piracema::detail {

/// Makes an open file this object's alone, until its descriptor (and every copy of it by fork) is
/// closed, at the latest by the kernel at the end of the process. Nothing if that was done, or if
/// the file system knows no locks; else who has it: "process 123", "another process".
std::optional<std::string> other_holder(int fd);

}  // namespace piracema::detail
