// first error: a standard type its <cereal/types/...> header
// names: std::map
#include <piracema/piracema.h>

#include <map>

using namespace piracema;

struct Count {
  std::map<int, int> of;
  int operator()(const int& n) { return of[n] += 1; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(of);
  }
};

int main() {
  return run(pipeline(source("in", [] { return std::optional<int>(); }), node("count", Count{}),
                      sink("out", [](const int&) {})));
}
