// first error: a MapState or a ListState is the state of a key: take it, or a struct that has it
#include <piracema/piracema.h>

#include <cereal/types/vector.hpp>

using namespace piracema;

struct Count {
  MapState<std::int64_t, int> seen;
  void operator()(const std::int64_t& n) { seen.put(n, 1); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(seen);
  }
};

int main() { return run(pipeline(source("numbers", Sequence{1, 10}), sink("count", Count{}))); }
