// first error: `serialize` must not be const: what saves a state restores it, too
// names: Name
#include <piracema/piracema.h>

using namespace piracema;

struct Name {
  std::string text;
  template <class Archive>
  void serialize(Archive& archive) const {
    archive(text);
  }
};

int main() {
  return run(pipeline(source("in", [] { return std::optional<Name>(); }),
                      sink("out", [](const Name&) {})));
}
