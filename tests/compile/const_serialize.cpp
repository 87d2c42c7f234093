// error: `serialize` must not be const: what saves a state restores it, too
// names: Count
#include <piracema/piracema.h>

using namespace piracema;

struct Count {
  int all = 0;
  int operator()(const int& n) { return all += n; }
  template <class Archive>
  void serialize(Archive& archive) const {
    archive(all);
  }
};

int main() {
  return run(pipeline(source("in", [] { return std::optional<int>(); }), node("count", Count{}),
                      sink("out", [](const int&) {})));
}
