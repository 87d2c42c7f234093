// error: state_ttl() is for code with a state for each key: a V& behind the item
#include <piracema/piracema.h>

#include <chrono>

using namespace piracema;

struct Pass {
  std::chrono::seconds state_ttl() const { return std::chrono::hours(1); }
  std::int64_t operator()(const std::int64_t& number) { return number; }
};

int main() {
  return run(pipeline(source("numbers", Sequence{1, 10}), farm("pass", 2, Pass{}),
                      sink("end", [](const std::int64_t&) {})));
}
