#pragma once

#include <piracema/error.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "council/host_choice.h"
#include "os/process.h"

namespace piracema::council {

/// A port of this machine that is ours before anybody listens there: who calls is refused.
struct Port {
  Fd socket;
  /// "10.0.0.1:4711".
  std::string address;
  std::uint16_t number = 0;
};
/// At this numeric address. Errc::config for another thing, Errc::io.
Result<Port> reserve_port(const std::string& host);

/// What a coordinator has to know of itself and of the others.
struct Seat {
  struct Member {
    /// Where its replica is, and where workers and agents find it when it leads.
    std::string replica, door;
    std::string public_key;
  };
  std::uint32_t me = 0;
  /// Of the replica: 64 hexadecimal digits that nobody else gets.
  std::string seed;
  /// Key of the job.
  std::string token;
  std::vector<Member> members;
  /// Numeric address of this host, and its own ports there.
  std::string host;
  Port replica, door;
  /// It was brought to this host by a remote shell.
  bool was_brought = false;
  /// Leads to the command, which is told how the job has ended; of one that was brought it is
  /// standard output that does.
  Fd command;
};

/// A process that the command has started, the same words again: a coordinator, or the one that
/// brings that to its host (RemoteCoordinator).
struct Started {
  cluster::Process process;
  Fd line;
};

/// Starts the coordinators, `words` being the command line, and shares out the seats.
/// Errc::config for one that cannot be started or does not say where it is in time; Errc::lost if
/// that is the first one, which may have said itself why it cannot be.
Result<Done> share_out_seats(std::uint32_t count, const std::vector<std::string>& words,
                             const HostChoice& hosts, std::vector<Started>& coordinators);
/// Whether this process was started by the command, as a coordinator or for one.
bool has_seat();
/// Whether it is the first one, which opens what the job writes and serves.
bool has_first_seat();
/// In such a process: waits for its seat in the job on these hosts. Errc::config where it is not on
/// the host that it is meant to be on, Errc::lost when the command is gone.
Result<Seat> take_seat(const std::vector<cluster::HostOptions>& hosts);

/// What a process that brings a coordinator to its host is told.
struct Errand {
  /// Leads to the command.
  Fd line;
  std::string host;
};
/// Whether this process is one.
std::optional<Errand> take_errand();

// ---- what is said between a coordinator and the command: a line, then the seat; then how the job
// has ended

/// Whoever cannot take part says why behind this word, in place of its addresses.
constexpr std::string_view cannot = "cannot ";
constexpr std::size_t line_bytes_max = 4'096;
/// Before the exit code.
constexpr std::string_view job_is_over = "piracema: the job is over: ";
/// The exit code in such a line.
std::optional<int> code_of(std::string_view line);
/// False when nobody is there any more.
bool say(int fd, std::string_view text);

}  // namespace piracema::council
