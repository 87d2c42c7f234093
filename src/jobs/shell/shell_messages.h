#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <variant>

/// What the two ends of `piracema cluster rsh` say to each other.
namespace piracema::jobs {

/// To the node where it is to run, first and once: what a shell there runs.
struct ShellRun {
  std::string command;
  auto fields() { return std::tie(command); }
};
enum class StandardStream : std::uint8_t { input, output, errors };
/// Of one of its streams; none: its end. Against the stream's way, and then none: nobody reads it
/// any more.
struct ShellBytes {
  StandardStream stream = StandardStream::input;
  std::string bytes;
  auto fields() { return std::tie(stream, bytes); }
};
/// So many of the bytes of a stream are written, and more may come.
struct ShellTaken {
  StandardStream stream = StandardStream::input;
  std::uint64_t bytes = 0;
  auto fields() { return std::tie(stream, bytes); }
};
/// From that node, last: all of its streams were said.
struct ShellEnded {
  /// As a shell has it: 128 and the signal.
  std::uint32_t code = 0;
  std::string why;
  auto fields() { return std::tie(code, why); }
};

using ShellMessage = std::variant<ShellRun, ShellBytes, ShellTaken, ShellEnded>;

}  // namespace piracema::jobs
