#pragma once

#include <sys/types.h>

namespace piracema::cluster {

/// What the kernel says of a process at this moment, a child of ours or not (proc(5), stat).
struct ProcessState {
  /// Its main thread wants to run and waits for a processor or a disk: it is neither stopped nor
  /// stuck, the machine is busy.
  bool held_up = false;
  /// By a signal (SIGSTOP, SIGTSTP); a debugger is something else.
  bool stopped = false;
  /// By a debugger that holds it.
  bool traced = false;
  /// It waits in the kernel, for a disk or for a child that has its memory (vfork), and hears of no
  /// signal but SIGKILL until that is over.
  bool blocked = false;
  /// It is on its way out, has yet to be waited for, or is gone. The kernel ends the connections of
  /// a process before anybody can wait for it: on a busy machine some time before.
  bool ending = false;
};
ProcessState state_of(pid_t pid);

}  // namespace piracema::cluster
