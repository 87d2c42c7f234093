// error: a state whose type has a member type `Before` is made of one: it needs a constructor that takes a Before
#include <piracema/piracema.h>

using namespace piracema;

struct Tally {
  using Before = std::uint32_t;
  std::uint64_t count = 0, sum = 0;
};

std::int64_t key_of(const std::int64_t& number) { return number % 10; }

std::int64_t tally(const std::int64_t& number, Tally& state) {
  state.count += 1;
  return number;
}

int main() {
  return run(pipeline(source("numbers", Sequence{1, 10}), farm("tally", 2, tally).by_key(key_of),
                      sink("end", [](const std::int64_t&) {})));
}
