// error: a type that is not trivially copyable needs a `serialize` member
#include <piracema/piracema.h>

#include <string>

using namespace piracema;

struct Person {
  std::string name;
};

int main() {
  return run(pipeline(source("numbers", Sequence{1, 10}),
                      node("name", [](const std::int64_t&) { return Person{"somebody"}; }),
                      sink("end", [](const Person&) {})));
}
