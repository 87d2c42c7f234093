#pragma once

namespace piracema {

/// Whether the mistake of that name is on. The sources that the simulator runs ask so where it was
/// planted (plant.py): those of the library do not know of it.
bool planted(const char* name);

namespace smr_sim {

/// Switches one planted mistake on as long as it lives. Threads: one.
class Mutant {
 public:
  explicit Mutant(const char* name);
  ~Mutant();
  Mutant(const Mutant&) = delete;
  Mutant& operator=(const Mutant&) = delete;

  /// Whether the code asked for it: a mistake that is never reached cannot be found.
  static bool reached();
};

}  // namespace smr_sim
}  // namespace piracema
