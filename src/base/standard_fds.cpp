#include "base/standard_fds.h"

#include <fcntl.h>
#include <unistd.h>

namespace piracema {

// open(2) gives the lowest number that is free.
void fill_standard_fds() {
  int fd = 0;
  while (fd >= 0 && fd <= STDERR_FILENO) fd = ::open("/dev/null", O_RDWR);
  if (fd >= 0) ::close(fd);
}

}  // namespace piracema
