// Works on the lines of a file with four replicas, and writes the results in the order of the
// lines.
//
//     build/@NAME@ IN OUT                                                one process
//     piracema run -n 4 --snapshots snapshots build/@NAME@ IN OUT        four, which may be lost

#include <piracema/piracema.h>

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>

using namespace piracema;

// What happens to each line. What it throws ends up in a message that names the line.
std::string work(const std::string& line) {
  if (line.empty() || line.size() > 9 || line.find_first_not_of("0123456789") != line.npos) {
    throw std::runtime_error("want a number of at most 9 digits, found '" + line + "'");
  }
  std::uint64_t steps = 0;
  for (std::uint64_t n = std::stoull(line); n > 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
  return line + " " + std::to_string(steps);
}

// What it remembers is in every snapshot, as serialize says.
struct Number {
  std::uint64_t lines = 0;

  std::string operator()(const std::string& line) { return std::to_string(++lines) + " " + line; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(lines);
  }
};

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s IN OUT\n", argv[0]);
    return 2;
  }
  return run(pipeline(source("lines", FileLines{argv[1]}), farm("work", 4, work).ordered(),
                      node("number", Number{}), sink("write", LineSink{argv[2]})));
}
