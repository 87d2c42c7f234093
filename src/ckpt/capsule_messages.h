#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

/// What a keeper and the first process of its capsule say to each other: one message a packet of a
/// SOCK_SEQPACKET pair. Both are of one build; there are no versions.
namespace piracema::ckpt {

enum class OrderKind : std::uint8_t { start, restore, dump };

struct Order {
  OrderKind kind = OrderKind::start;
  /// start: the program and where it runs.
  std::vector<std::string> command;
  std::string working_directory;
  /// start: where its output goes; both may be one file.
  std::string output, error;
  /// restore, dump: the directory of the image's parts, and the file that criu's log goes to.
  std::string parts, log;
  /// restore: the first process of the job.
  std::uint32_t root = 0;
  /// dump: the job ends with it; else it goes on.
  bool stop = false;
  /// dump: the directory of the job, the number of the image, and that of the job.
  std::string directory;
  std::uint64_t image = 0, job = 0;
  auto fields() {
    return std::tie(kind, command, working_directory, output, error, parts, log, root, stop,
                    directory, image, job);
  }
};

enum class ReportKind : std::uint8_t {
  ready,    ///< The capsule is made, or could not be: `ok`, `message`.
  started,  ///< Likewise the job, be it new or restored.
  dumped,   ///< Likewise an image, complete and durable; if it was to stop, the job has.
  ended,    ///< The job has ended by itself: `status` as waitpid(2) has it.
};

struct Report {
  ReportKind kind = ReportKind::ready;
  bool ok = false;
  std::string message;
  std::uint32_t status = 0;
  /// dumped: how long the job stood still, and how long all took, in microseconds.
  std::uint64_t frozen_us = 0, dump_us = 0;
  auto fields() { return std::tie(kind, ok, message, status, frozen_us, dump_us); }
};

constexpr std::size_t message_bytes_max = 128 << 10;

}  // namespace piracema::ckpt
