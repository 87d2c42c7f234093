// error: a pointer means nothing in another process: send a value
#include <piracema/piracema.h>

#include <string>

using namespace piracema;

int main() {
  return run(pipeline(source("numbers", Sequence{1, 10}),
                      node("name", [](const std::int64_t&) { return "a number"; }),
                      sink("end", [](const std::string&) {})));
}
