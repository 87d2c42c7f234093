// first error: a type that is not trivially copyable needs a `serialize` member
// names: Friends
#include <piracema/piracema.h>

#include <set>

using namespace piracema;

struct Friends {
  std::set<std::int64_t> all;
};

int main() {
  return run(pipeline(source("numbers", Sequence{1, 10}),
                      sink("meet", [](const std::int64_t& n, Friends& friends) {
                        friends.all.insert(n);
                      }).by_key([](const std::int64_t& n) { return n % 3; })));
}
