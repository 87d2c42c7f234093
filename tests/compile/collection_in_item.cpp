// first error: a MapState or a ListState is the state of a key, or a member of it: it is no item
#include <piracema/piracema.h>

#include <cereal/types/vector.hpp>

using namespace piracema;

struct Item {
  MapState<std::int64_t, int> pages;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(pages);
  }
};

int main() {
  return run(pipeline(source("items", []() -> std::optional<Item> { return std::nullopt; }),
                      sink("drop", [](const Item&) {})));
}
