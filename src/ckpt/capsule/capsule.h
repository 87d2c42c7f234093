#pragma once

#include <piracema/error.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "ckpt/capsule/capsule_messages.h"
#include "ckpt/capsule/user_namespace.h"

namespace piracema::ckpt {

struct CapsuleSettings {
  std::string criu;
  /// This program, which criu calls as its hook (hook.h).
  std::string hook;
  std::string host_name;
  /// The capsule's own, on its link c0; nobody outside sees it.
  std::string address = "10.77.0.1";
  unsigned prefix_bits = 24;
  /// Where the job has several hosts: a socket of open_overlay_socket, which stays the caller's,
  /// by which c0 reaches the other capsules; their token; and the names of all, in the order of
  /// their addresses, the first of which is that of `address_of(0)`. -1: c0 leads nowhere.
  int network = -1;
  OverlayToken token{};
  std::vector<std::string> names;
};

/// Of the capsule on a job's host, from 0 on.
std::string address_of(std::size_t host);

/// A place for one job: process, mount, network, IPC and host-name namespaces of its own, a
/// private /dev/shm and ptys. Its first process is ours. CRIU runs inside too, so that no
/// namespace has ever to be saved.
///
/// All of it dies with this object and with the process that made it, whatever that dies of. Made
/// and used by a process of one thread.
class Capsule {
 public:
  /// The first report tells whether it could be made. Whoever is not root gets it in a user
  /// namespace as well (user_namespace.h). Errc::config where the machine allows none, Errc::io.
  static Result<Capsule> open(const CapsuleSettings& settings);
  Capsule(Capsule&&) = default;
  Capsule& operator=(Capsule&&) = default;
  ~Capsule() { kill(); }

  /// Readable when there is a report or the capsule has died.
  int handle() const { return socket_.get(); }
  /// Its first process, as the host numbers it, and a pidfd of it.
  pid_t pid() const { return pid_; }
  int process() const { return init_.get(); }
  /// The next report; Errc::not_found if there is none yet, Errc::lost when the capsule is dead.
  Result<Report> receive();
  Result<Done> send(Order order);

  /// Ends every process in it, and waits until they have. Any number of times.
  void kill();

 private:
  Capsule(pid_t pid, Fd init, Fd socket)
      : pid_(pid), init_(std::move(init)), socket_(std::move(socket)) {}

  pid_t pid_;
  /// A pidfd.
  Fd init_;
  Fd socket_;
};

/// What the first process of a capsule does; it never returns. `user`: who has made it, unless that
/// was root.
[[noreturn]] void capsule_main(Fd socket, const CapsuleSettings& settings,
                               const std::optional<OrdinaryUser>& user);

}  // namespace piracema::ckpt
