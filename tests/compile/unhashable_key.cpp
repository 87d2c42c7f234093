// error: a key needs a hash that is the same on every machine: give a number, a text, or a type
// names: Seat
#include <piracema/piracema.h>

using namespace piracema;

struct Seat {
  char row;  // Three bytes that nobody wrote lie behind it.
  int number;
};

int main() {
  return run(pipeline(
      source("in", [] { return std::optional<Seat>(); }),
      farm("move", 2, [](const Seat& s) { return s; }).by_key([](const Seat& s) { return s; }),
      sink("out", [](const Seat&) {})));
}
