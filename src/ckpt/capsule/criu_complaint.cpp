#include "ckpt/capsule/criu_complaint.h"

#include <array>

#include "base/text.h"

namespace piracema::ckpt {

namespace {

struct Known {
  /// Both are in the error; the second one may be empty.
  std::string_view one, other;
  std::string_view meaning;
};

// As criu 4.2 words them; the first that fits.
constexpr std::array<Known, 30> known = {{
    {"SysVIPC shmem map", "",
     "the job shares memory by System V segments (shmget), which no image of a capsule holds; for "
     "an MPI over UCX set UCX_TLS=self,posix"},
    {"sysv shmem", "", "the job shares memory by System V segments in a way that criu cannot save"},
    {"Sysv shmem", "", "the job shares memory by System V segments in a way that criu cannot save"},
    {"has bad size", "",
     "a file that the job had open has another size than when it was saved: somebody has written "
     "to it since"},
    {"Can't fork for", "File exists",
     "the number of a process of the job is taken in the capsule; try again"},
    {"Can't fork", "Resource temporarily unavailable",
     "the host allows no more processes (ulimit -u, pids.max)"},
    {"Can't open master pty", "", "the capsule has no place for the job's terminals (/dev/ptmx)"},
    {"Found dangling tty", "",
     "the job has a terminal of which it is not the owner; start it without one"},
    {"rt vDSO area", "",
     "this criu is too old for the kernel; scripts/get-criu gets one that is not"},
    {"Can't get 1:16 opt", "",
     "this criu is too old for the kernel's sockets; scripts/get-criu gets one that is not"},
    {"In-flight connection", "", "a connection is being opened that nobody has accepted yet"},
    {"MPTCP", "",
     "the job has a socket of multipath TCP, which criu cannot save; for a Go program set "
     "GODEBUG=multipathtcp=0"},
    {"Unsupported proto", "", "the job has a socket of a kind that criu cannot save"},
    {"Unsupported socket", "", "the job has a socket of a kind that criu cannot save"},
    {"Only stream, dgram and raw are supported", "",
     "the job has a socket of a kind that criu cannot save"},
    {"Can't dump half of stream unix connection", "",
     "the job is connected by a local socket to a process outside of it"},
    {"Dangling connection", "",
     "the job is connected by a local socket to a process outside of it"},
    {"External socket", "", "the job is connected by a local socket to a process outside of it"},
    {"external socket", "", "the job is connected by a local socket to a process outside of it"},
    {"Can't dump ghost file", "",
     "the job has a deleted file open that is larger than 1 GiB, which is what is saved of one"},
    {"Can't dump nested", "", "the job has made namespaces of its own (a container, a sandbox)"},
    {"running in 32-bit mode", "", "the job has a program of 32 bits, which criu cannot save here"},
    {"packetized mode for pipes", "", "the job has a pipe in packet mode (O_DIRECT)"},
    {"Individually stopped threads", "",
     "a debugger, or somebody else, holds a single thread of the job"},
    {"Unseizable non-zombie", "", "a debugger (gdb, strace) has hold of a process of the job"},
    {"xfeatures", "", "this processor lacks features of the one that the job was saved on"},
    {"CPU", "not supported", "this processor lacks features of the one that the job was saved on"},
    {"Can't open mapped", "(deleted)",
     "the job has memory of a file that was deleted since, such as a library that was replaced, "
     "which "
     "only root can save"},
    {"shmem.c", "Can't read virtual memory",
     "the job has a part of shared memory without a name, which only root can save"},
    {"Unsupported mapping found", "",
     "the job has memory mapped from a device or the kernel, such as a GPU's or InfiniBand's"},
}};

}  // namespace

std::string meaning_of_criu_error(std::string_view error) {
  for (const Known& one : known) {
    if (error.find(one.one) != error.npos && error.find(one.other) != error.npos)
      return std::string(one.meaning);
  }
  return {};
}

std::string explain_criu_error(std::string_view error) {
  const std::string meaning = meaning_of_criu_error(error);
  return meaning.empty() ? std::string(error) : concat(meaning, " (", error, ")");
}

}  // namespace piracema::ckpt
