#include "checks.h"

#include <cstdio>

int me, size;
long checks = 0, wrong = 0;
std::string doing;

void check(bool right, const char* what) {
  checks += 1;
  if (right) return;
  if (++wrong <= 5) std::fprintf(stderr, "rank %d: %s: %s\n", me, doing.c_str(), what);
}

std::vector<unsigned char> bytes_of(int rank, std::size_t count) {
  std::vector<unsigned char> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = static_cast<unsigned char>(rank * 31 + static_cast<int>(i % 251) * 7 + 1);
  }
  return out;
}
