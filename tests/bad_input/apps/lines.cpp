// Shouts the lines of a file: the program that is given bad input here.
//
//     lines IN OUT [PAUSE_MS] [GATE]
//
// Each line takes a replica PAUSE_MS. The source waits as long as there is a file GATE. A line that is "throw" makes the operator throw.
#include <piracema/piracema.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>

using namespace piracema;

/// Lets snapshots and signals through while it waits.
struct Gated {
  FileLines lines;
  std::string gate;

  void start(const Context& context) { lines.start(context); }
  Poll<std::string> operator()() {
    if (!gate.empty() && ::access(gate.c_str(), F_OK) == 0) return Poll<std::string>::nothing_yet();
    if (auto line = lines()) return *std::move(line);
    return Poll<std::string>::end();
  }
  template <class Archive>
  void serialize(Archive& archive) {
    lines.serialize(archive);
  }
};

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
  const Gated read{FileLines(argv[1]), argc > 4 ? argv[4] : ""};
  return run(pipeline(source("read", read), farm("shout", 2, shout).ordered(),
                      sink("write", LineSink(argv[2]))));
}
