// error: the code of a source is called without arguments and returns std::optional<T>
#include <piracema/piracema.h>

using namespace piracema;

int main() {
  return run(pipeline(source("ones", [] { return 1; }), sink("end", [](const int&) {})));
}
