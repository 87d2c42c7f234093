#include "ckpt/capsule/criu_preload.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text.h"

// The library as it was linked.
asm(".pushsection .rodata\n"
    "piracema_criu_preload:\n"
    ".incbin \"" PIRACEMA_CRIU_PRELOAD
    "\"\n"
    "piracema_criu_preload_end:\n"
    ".byte 0\n"
    ".popsection\n");
extern "C" const char piracema_criu_preload[], piracema_criu_preload_end[];

namespace piracema::ckpt {

namespace {

constexpr const char* variable = "LD_PRELOAD";

}  // namespace

void preload_into_criu() {
  // Open for as long as criu runs, which may be what a script becomes.
  const int file = ::memfd_create("piracema", 0);
  const char* at = piracema_criu_preload;
  while (file >= 0 && at != piracema_criu_preload_end) {
    const ssize_t count =
        ::write(file, at, static_cast<std::size_t>(piracema_criu_preload_end - at));
    if (count <= 0) return;
    at += count;
  }
  if (file >= 0) ::setenv(variable, concat("/proc/self/fd/", file).c_str(), 1);
}

void forget_preload() { ::unsetenv(variable); }

}  // namespace piracema::ckpt
