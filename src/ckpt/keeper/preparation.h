#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace piracema::ckpt {

/// The capsule ends a command that takes too long; so long is waited for its word of that.
constexpr Time report_of_command = std::chrono::seconds(1);

/// What comes before an image that is due, where the user wants that: a command of his, and then
/// the program's word that it is a good moment. Each in a bounded time. Pure.
class Preparation {
 public:
  struct Settings {
    /// As long may the command take; none: there is no command.
    std::optional<Time> command;
    /// So long a good moment is waited for; none: not at all.
    std::optional<Time> moment;
  };
  enum class Next : std::uint8_t { wait, run_command, ask_for_moment, save };

  explicit Preparation(Settings settings) : settings_(settings) {}

  /// All of it takes at most so long.
  Time most() const;
  /// From the first `look` on, until `end`.
  bool is_under_way() const { return step_ != Step::none; }
  /// When `look` has something else to say than to wait, if nothing is heard before; none: it is
  /// not under way.
  std::optional<Time> until() const;

  /// An image is due: what is to be done now, once each. `patient`: a good moment is waited for.
  Next look(Time now, bool patient);
  /// The command has ended.
  void command_ended();
  /// The program says that it is a good moment.
  void moment_said();
  bool is_moment_said() const { return said_; }
  /// The image is begun, come what may: whether the program was asked and has not said a word;
  /// once.
  bool leaves_program_out();
  /// Whether it was asked for a good moment since it began.
  bool has_asked() const { return asked_; }
  /// There is an image, or there will be none.
  void end();

 private:
  enum class Step : std::uint8_t { none, command, commanded, moment, ready };

  const Settings settings_;
  Step step_ = Step::none;
  Time until_{};
  bool asked_ = false, said_ = false, left_out_ = false;
};

}  // namespace piracema::ckpt
