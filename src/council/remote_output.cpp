#include "council/remote_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/text.h"

namespace piracema::council {

// A pipe that is opened anew has flags of its own. A socket cannot be, and has one owner here: ssh.
void do_not_wait_for(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return;
  if (S_ISSOCK(status.st_mode)) ::fcntl(fd, F_SETFL, O_NONBLOCK);
  if (!S_ISFIFO(status.st_mode)) return;
  const Fd own(::open(concat("/proc/self/fd/", fd).c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  if (own) ::dup2(own.get(), fd);
}

}  // namespace piracema::council
