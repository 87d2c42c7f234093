// error: a program begins with a source
#include <piracema/piracema.h>

using namespace piracema;

int main() {
  return run(pipeline(node("half", [](const std::int64_t& number) { return number / 2; }),
                      sink("end", [](const std::int64_t&) {})));
}
