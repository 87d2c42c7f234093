// error: declared with attribute
#include <piracema/piracema.h>

using namespace piracema;

int main() {
  pipeline(source("in", [] { return std::optional<int>(); }), sink("out", [](const int&) {}));
}
