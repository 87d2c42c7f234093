// first error: the state of a key begins as V{} and is moved: give it a default constructor
#include <piracema/piracema.h>

using namespace piracema;

struct Total {
  explicit Total(int from) : sum(from) {}
  std::int64_t sum;
};

int main() {
  return run(pipeline(source("numbers", Sequence{1, 10}),
                      sink("sum", [](const std::int64_t& n, Total& total) {
                        total.sum += n;
                      }).by_key([](const std::int64_t& n) { return n; })));
}
