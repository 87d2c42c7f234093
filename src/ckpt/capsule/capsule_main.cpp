// How a process that has just got its own namespaces becomes the first one of a capsule.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ckpt/capsule/capsule_init.h"

namespace piracema::ckpt {

namespace {

constexpr int socket_number = 3, network_number = 4;

}  // namespace

void capsule_main(Fd socket, const CapsuleSettings& settings,
                  const std::optional<OrdinaryUser>& user) {
  // Dies with the keeper; one that is dead already is noticed by its end of the socket.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setsid();
  // Ctrl-C, SIGTERM and the like are the keeper's.
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
    ::signal(number, SIG_IGN);
  }
  // Files of other mount namespaces have no name here; criu would refuse them.
  const int own = ::fcntl(socket.release(), F_DUPFD_CLOEXEC, 100);
  CapsuleSettings inside = settings;
  unsigned kept = socket_number;
  if (settings.network >= 0) {
    const int network = ::fcntl(settings.network, F_DUPFD_CLOEXEC, 100);
    inside.network = ::dup3(network, network_number, O_CLOEXEC);
    kept = network_number;
  }
  ::dup3(own, socket_number, O_CLOEXEC);
  ::syscall(SYS_close_range, kept + 1, ~0u, 0);
  CapsuleInit(Fd(socket_number), inside, user).run();
}

}  // namespace piracema::ckpt
