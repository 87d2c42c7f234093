#include "base/refused_writes.h"

#include <signal.h>

namespace piracema {

namespace {

void ignore_if_unhandled(int number) {
  struct sigaction current {};
  if (::sigaction(number, nullptr, &current) != 0 || current.sa_handler != SIG_DFL) return;
  current.sa_handler = SIG_IGN;
  ::sigaction(number, &current, nullptr);
}

}  // namespace

void refuse_large_writes() { ignore_if_unhandled(SIGXFSZ); }
void refuse_writes_to_nobody() { ignore_if_unhandled(SIGPIPE); }

}  // namespace piracema
