// sim_smr_sought: hunts for the planted mistakes that the simulator does not find yet. What it
// finds belongs into the gate; exits with 1 if it finds none.
#define DOCTEST_CONFIG_IMPLEMENT  // The seeds tell doctest of failures; here nobody listens.
#include <doctest/doctest.h>

#include <algorithm>

#include "sim/smr/hunt.h"

int main() {
  using namespace piracema::smr_sim;
  const auto trails = hunt_all(sought_mistakes());
  const auto found =
      std::count_if(trails.begin(), trails.end(), [](const Trail& t) { return t.found; });
  return found > 0 ? 0 : 1;
}
