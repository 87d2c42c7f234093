// error: a program ends with a sink
#include <piracema/piracema.h>

using namespace piracema;

int main() {
  return run(pipeline(source("numbers", Sequence{1, 10}),
                      node("half", [](const std::int64_t& number) { return number / 2; })));
}
