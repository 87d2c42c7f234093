// error: name the types of its arguments instead of 'auto'
#include <piracema/piracema.h>

using namespace piracema;

int main() {
  return run(pipeline(source("numbers", Sequence{1, 10}),
                      node("half", [](const auto& number) { return number / 2; }),
                      sink("end", [](const std::int64_t&) {})));
}
