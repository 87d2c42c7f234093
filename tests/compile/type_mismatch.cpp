// error: a block gives items of another type than the next one takes
#include <piracema/piracema.h>

#include <string>

using namespace piracema;

int main() {
  return run(pipeline(source("numbers", Sequence{1, 10}),
                      node("shout", [](const std::string& text) { return text + "!"; }),
                      sink("end", [](const std::string&) {})));
}
