// A file to a file: each line gets the number of primes below the number on it. The output is the
// same, byte for byte, whether or not a process is lost on the way.
//
//     seq 10000 20000 > numbers.txt
//     piracema run -n 4 --snapshots snapshots ./04_file_to_file numbers.txt primes.txt

#include <piracema/piracema.h>

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>

using namespace piracema;

bool is_prime(std::uint64_t n) {
  for (std::uint64_t d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return n >= 2;
}

// What an operator throws ends up in a message that names the replica and the item.
std::string count_primes(const std::string& line) {
  if (line.empty() || line.size() > 7 || line.find_first_not_of("0123456789") != line.npos) {
    throw std::runtime_error("want a number of at most 7 digits, found '" + line + "'");
  }
  const std::uint64_t limit = std::stoull(line);
  std::uint64_t count = 0;
  for (std::uint64_t n = 2; n < limit; ++n) count += is_prime(n) ? 1 : 0;
  return line + " " + std::to_string(count);
}

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s IN OUT\n", argv[0]);
    return 2;
  }
  return run(pipeline(source("lines", FileLines{argv[1]}),
                      farm("primes", 4, count_primes).ordered(), sink("write", LineSink{argv[2]})));
}
