#include <piracema/piracema.h>

#include <iostream>
using namespace piracema;

int main() {
  return run(pipeline(source("numbers", Sequence{1, 5}),
                      farm("square", 2, [](const std::int64_t& n) { return n * n; }).ordered(),
                      sink("print", [](const std::int64_t& n) { std::cout << n << "\n"; })));
}
