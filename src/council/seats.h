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
#include "council/member.h"
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
  /// Its place among `members`.
  std::uint32_t number = 0;
  /// Of the replica, and of whoever may change who the replicas are: 64 hexadecimal digits each,
  /// the first of which nobody else gets, and the second all coordinators of the job.
  std::string seed, administrator;
  /// Key of the job.
  std::string token;
  /// Those that the job began with, and those that it has.
  std::vector<Member> first, members;
  /// Numeric address of this host, and its own ports there.
  std::string host;
  Port replica, door;
  /// It was brought to this host by a remote shell.
  bool was_brought = false;
  /// Leads to the command, which is told how the job has ended; and where that hands on signals
  /// (SignalLine).
  Fd command, orders;

  const Member& own() const { return members[number]; }
};

/// A process that the command, or a coordinator, has started, the same words again: a coordinator,
/// or the one that brings that to its host (RemoteCoordinator).
struct Started {
  cluster::Process process;
  Fd line;
};
/// What such a process is told when it is started.
struct Errand {
  /// Of the first coordinator: what the others call its host.
  std::string first_on;
  /// Of one on another host: its name.
  std::string host;
  /// What the job reads; -1: nothing.
  int input = -1;
  /// Leads to the command; -1: the command starts it itself.
  int command = -1;
};
/// Errc::io.
Result<Started> start_coordinator(const std::vector<std::string>& words, const Errand& errand);
/// Waits until it has said where it is: a Member without id and key. Errc::refused if it says why
/// it cannot be there; Errc::lost if it ends, is late, or `given_up` becomes readable.
Result<Member> hear_of(const Started& started, bool is_elsewhere, int given_up = -1);
/// False when it is gone.
bool give_seat(const Started& started, const Seat& seat);

/// What the command needs to reach them all later.
struct SharedOut {
  /// Key of the job.
  std::string token;
  /// Where whoever leads is called.
  std::vector<std::string> doors;
};
/// Starts the coordinators, `words` being the command line, and shares out the seats.
/// Errc::config for one that cannot be started or does not say where it is in time; Errc::lost if
/// that is the first one, which may have said itself why it cannot be.
Result<SharedOut> share_out_seats(std::uint32_t count, const std::vector<std::string>& words,
                                  const HostChoice& hosts, std::vector<Started>& coordinators);
/// Whether this process was started by the command, as a coordinator or for one.
bool has_seat();
/// Whether it is the first one, which opens what the job writes and serves.
bool has_first_seat();
/// In such a process: waits for its seat in the job on these hosts. Errc::config where it is not on
/// the host that it is meant to be on, Errc::lost when whoever has started it is gone.
Result<Seat> take_seat(const std::vector<cluster::HostOptions>& hosts);

/// What a process that brings a coordinator to its host has.
struct Bringer {
  /// Leads to whoever has started it; and to the command.
  Fd line, command;
  std::string host;
};
/// Whether this process is one.
std::optional<Bringer> take_bringer();

// ---- what is said between a coordinator and whoever has started it: a line, then the seat; then,
// with the command, signals (SignalLine) and how the job has ended

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
