#pragma once

namespace piracema::smr_sim {

/// Switches one planted mistake on (smr/mutant.h) as long as it lives. Threads: one.
class Mutant {
 public:
  explicit Mutant(const char* name);
  ~Mutant();
  Mutant(const Mutant&) = delete;
  Mutant& operator=(const Mutant&) = delete;

  /// Whether the code asked for it: a mistake that is never reached cannot be found.
  static bool reached();
};

}  // namespace piracema::smr_sim
