#include "sim/smr/mutants.h"

#include <cstring>

#include "base/ensure.h"

namespace piracema {

namespace {
const char* on = nullptr;
bool asked = false;
}  // namespace

bool planted(const char* name) {
  if (on == nullptr || std::strcmp(on, name) != 0) return false;
  asked = true;
  return true;
}

namespace smr_sim {

Mutant::Mutant(const char* name) {
  ENSURE(on == nullptr);
  on = name;
  asked = false;
}
Mutant::~Mutant() { on = nullptr; }
bool Mutant::reached() { return asked; }

}  // namespace smr_sim
}  // namespace piracema
