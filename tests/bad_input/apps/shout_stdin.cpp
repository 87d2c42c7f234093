// Shouts the lines of its standard input.
//
//     shout_stdin OUT [JOURNAL]
#include <piracema/piracema.h>

#include <cstdio>
#include <string>

using namespace piracema;

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("shout_stdin: error: want OUT\n", stderr);
    return 2;
  }
  return run(pipeline(source("read", PipeLines("-", {.journal = argc > 2 ? argv[2] : ""})),
                      farm("shout", 2, [](const std::string& line) { return line + "!"; }).ordered(),
                      sink("write", LineSink(argv[1]))));
}
