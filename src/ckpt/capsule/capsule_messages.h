#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "ckpt/network/overlay.h"

/// What a keeper and the first process of its capsule say to each other: one message a packet of a
/// SOCK_SEQPACKET pair; on another host an agent passes them on (host_messages.h). All are of one
/// build; there are no versions.
namespace piracema::ckpt {

enum class OrderKind : std::uint8_t {
  start,
  restore,
  dump,
  // Where the job has several hosts; host_group.h says when.
  link,     ///< The other capsules: `peers`, `mtu`.
  hold,     ///< No packet leaves or enters from now on; answered by `held`.
  pass,     ///< Packets may travel.
  pause,    ///< `ok`: all of the job stands still; else it goes on.
  want,     ///< `ok`: an image waits for a good moment of the program; else none does any more.
  command,  ///< Runs a command of the user's beside the job; answered by `command_ended`.
  proceed,  ///< To the dump that waits: the next step, or not `ok`: give up. To a restart whose
            ///< image was `unchecked`, at any moment of it: its memory is right.
};

struct Order {
  OrderKind kind = OrderKind::start;
  /// start, command: the program and where it runs.
  std::vector<std::string> command;
  std::string working_directory;
  /// start, command: "NAME=value", in place of the capsule's own environment; empty: that one.
  std::vector<std::string> environment;
  /// start, command: where its output goes; both may be one file.
  std::string output, error;
  /// command: in so many milliseconds it is killed.
  std::uint32_t within_ms = 0;
  /// restore, dump: the directory of the image's parts, and the file that criu's log goes to.
  std::string parts, log;
  /// restore: the first process of the job. 0: the record of the parts says it, and files are
  /// rolled back before.
  std::uint32_t root = 0;
  /// restore: the image's memory is checked while criu reads it; the job does not run before
  /// `proceed`.
  bool unchecked = false;
  /// dump: the job ends with it; else it goes on.
  bool stop = false;
  /// dump: one of several hosts; it waits for the others.
  bool several = false;
  /// dump: the image's memory is compressed.
  bool compress = false;
  /// proceed, pause, want.
  bool ok = false;
  /// want, not `ok`: the image that waited could not be made.
  bool failed = false;
  /// dump: the directory of the job, the number of the image, and that of the job.
  std::string directory;
  std::uint64_t image = 0, job = 0;
  /// link.
  std::vector<OverlayPeer> peers;
  std::uint32_t mtu = 0;
  auto fields() {
    return std::tie(kind, command, working_directory, environment, output, error, within_ms, parts,
                    log, root, unchecked, stop, several, compress, ok, failed, directory, image,
                    job, peers, mtu);
  }
};

enum class ReportKind : std::uint8_t {
  ready,          ///< The capsule is made, or could not be: `ok`, `message`.
  started,        ///< Likewise the job, be it new or restored.
  dumped,         ///< Likewise an image, complete and durable; if it was to stop, the job has.
  ended,          ///< The job has ended by itself: `status` as waitpid(2) has it.
  good_moment,    ///< The program says that it is one, while an image waits for that.
  command_ended,  ///< The user's command, or it could not be run: `ok`, `message`.
  // Of one of several hosts; `dumped` does not mean that anything is durable there.
  held,      ///< The answer to `hold`.
  frozen,    ///< Memory and sockets are saved; the job stands still and waits.
  recorded,  ///< Files too; if it is to stop, durable.
  sealed,    ///< After a dump that the job survives: the part of this host is durable, or not.
};

struct Report {
  ReportKind kind = ReportKind::ready;
  bool ok = false;
  std::string message;
  /// dumped: what was in the way passes, in milliseconds as a rule.
  bool passing = false;
  std::uint32_t status = 0;
  /// dumped: how long the job stood still, and how long all took, in microseconds.
  std::uint64_t frozen_us = 0, dump_us = 0;
  auto fields() { return std::tie(kind, ok, message, passing, status, frozen_us, dump_us); }
};

constexpr std::size_t message_bytes_max = 128 << 10;

}  // namespace piracema::ckpt
