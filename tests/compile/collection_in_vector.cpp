// error: a MapState or a ListState is a member of a state, and not an element of something in it
#include <piracema/piracema.h>

#include <cereal/types/vector.hpp>

using namespace piracema;

struct Visits {
  std::vector<MapState<std::int64_t, int>> by_day;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(by_day);
  }
};

int main() {
  return run(pipeline(source("numbers", Sequence{1, 10}),
                      sink("visit", [](const std::int64_t&, Visits&) {
                      }).by_key([](const std::int64_t& n) { return n; })));
}
