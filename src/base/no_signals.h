#pragma once

#include <pthread.h>

#include <csignal>

namespace piracema {

/// This thread, and those that it begins meanwhile, get no signals of the process: these go to the
/// program's own threads, or to the one that takes them from a descriptor. Until the end of the
/// scope, for this thread; for the others for ever.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;
  ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace piracema
