// error: nothing can follow a sink or come before a source
#include <piracema/piracema.h>

using namespace piracema;

int main() {
  return run(pipeline(source("numbers", Sequence{1, 10}), sink("end", [](const std::int64_t&) {}),
                      sink("second end", [](const std::int64_t&) {})));
}
