// first error: a standard type its <cereal/types/...> header
// names: std::map
#include <piracema/piracema.h>

#include <map>

using namespace piracema;

struct Counts {
  std::map<int, int> of;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(of);
  }
};

int main() {
  return run(pipeline(source("in", [] { return std::optional<Counts>(); }),
                      sink("out", [](const Counts&) {})));
}
