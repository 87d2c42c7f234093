// Shouts the lines of a file: the program that is given bad input here.
//
//     lines IN OUT [PAUSE_MS]
//
// Each line takes a replica PAUSE_MS. A line that is "throw" makes the operator throw.
#include <piracema/piracema.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>

using namespace piracema;

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("lines: error: want IN and OUT\n", stderr);
    return 2;
  }
  const std::chrono::milliseconds pause(argc > 3 ? std::stoi(argv[3]) : 0);
  const auto shout = [pause](const std::string& line) {
    if (line == "throw") throw std::runtime_error("as it was told to");
    std::this_thread::sleep_for(pause);
    return line + "!";
  };
  return run(pipeline(source("read", FileLines(argv[1])), farm("shout", 2, shout).ordered(),
                      sink("write", LineSink(argv[2]))));
}
