#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace piracema::detail {

/// How long `wait_for_holder` waits: longer than a process that was told to leave has for it, and
/// than it takes to notice that one is stopped.
constexpr std::chrono::seconds leave_wait{10};

/// Makes an open file this object's alone, until its descriptor (and every copy of it by fork) is
/// closed, at the latest by the kernel at the end of the process. Nothing if that was done, or if
/// the file system knows no locks; else who has it: "process 123", "another process".
std::optional<std::string> other_holder(int fd);

/// The same for a file that a former process of the job may still have, as it is about to leave or
/// to be ended for its silence: waits for that, ten seconds at most. `waited`: it had to. While it
/// waits its process is not taken for stuck.
std::optional<std::string> wait_for_holder(int fd, bool& waited);

}  // namespace piracema::detail
