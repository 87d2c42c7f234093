#include "ckpt/capsule/criu_complaint.h"

#include <doctest/doctest.h>

namespace piracema::ckpt {

TEST_CASE("an error of criu's that is known is told by what it means, and the error is behind it") {
  const std::string error =
      "Error (criu/cr-dump.c:479): Task 1004 with SysVIPC shmem map @7f0000000000 doesn't live in "
      "IPC ns";
  const std::string text = explain_criu_error(error);
  CHECK(text.starts_with("the job shares memory by System V segments"));
  CHECK(text.find("UCX_TLS=self,posix") != text.npos);
  CHECK(text.ends_with("(" + error + ")"));
}

TEST_CASE("each error that stopped one of our jobs is known") {
  for (const char* error :
       {"Error (criu/files-reg.c:2310): File var/tmp/out has bad size 810 (expect 230)",
        "Error (criu/proc_parse.c:376): Can't open mapped [/dev/shm/mpich_shar_tmpTFh3rT "
        "(deleted)]: "
        "No such file or directory",
        "Error (criu/shmem.c:862): Can't read virtual memory: Input/output error",
        "Error (criu/cr-restore.c:1517): Can't fork for 1004: File exists",
        "Error (criu/tty.c:822): tty: Can't open master pty 0 (index 0)",
        "Error (criu/vdso.c:600): vdso: Unexpected rt vDSO area bounds",
        "Error (criu/sockets.c:533): sockets: Can't get 1:16 opt: Operation not supported",
        "Error (criu/sk-inet.c:191): inet: In-flight connection (l) for 2a",
        "Error (criu/sk-unix.c:850): unix: External socket is used. Consider using --ext-unix-sk "
        "option.",
        "Error (criu/sk-unix.c:700): unix: Can't dump half of stream unix connection. name: a; "
        "peer name: b",
        "Error (criu/seize.c:420): Unseizable non-zombie 1004 found, state t, err -1/1"}) {
    CAPTURE(error);
    CHECK_FALSE(meaning_of_criu_error(error).empty());
  }
}

TEST_CASE("an error that is not known is told as it is") {
  CHECK(explain_criu_error("Error (criu/x.c:1): something else") ==
        "Error (criu/x.c:1): something else");
  CHECK(meaning_of_criu_error("").empty());
}

}  // namespace piracema::ckpt
