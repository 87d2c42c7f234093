#pragma once

namespace piracema::council {

/// From here on what is written to this descriptor, which leads to the command by a remote shell,
/// is dropped where its way there does not take it at once: whoever coordinates does not wait for a
/// terminal that is stopped or cut off. Files and terminals are left as they are, and so is a pipe
/// for all others that have it.
void do_not_wait_for(int fd);

}  // namespace piracema::council
