// first error: a state with a MapState or a ListState cannot be made of a former one yet
#include <piracema/piracema.h>

using namespace piracema;

struct Visits {
  using Before = std::int64_t;
  MapState<std::int64_t, int> pages;
  Visits() = default;
  explicit Visits(std::int64_t) {}
  template <class Archive>
  void serialize(Archive& archive) {
    archive(pages);
  }
};

int main() {
  return run(pipeline(source("numbers", Sequence{1, 10}),
                      sink("visit", [](const std::int64_t&, Visits&) {
                      }).by_key([](const std::int64_t& n) { return n; })));
}
