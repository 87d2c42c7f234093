#pragma once

namespace piracema::tools {

/// What Ctrl-C and SIGTERM do to this process while no loop waits for them: they end it with a code
/// that the help text names, and not as a death by signal.
class ExitBySignal {
 public:
  /// Before the first job of the process: with 130 or 143.
  static void begin();
  /// In place of `begin`, where the job is there already: they wait for the loop that hears them.
  static void hold();
  /// The job is over: from now on with its code, whatever is left to be written.
  static void use(int job_code);
};

}  // namespace piracema::tools
