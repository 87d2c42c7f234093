// A program to be saved and stopped at any moment: counts, and has of everything that an image has
// to hold. What it prints depends on nothing but its arguments.
//
//   counter STEPS MEGABYTES WORK EXIT_STATUS [FILE]
//
// Each step is WORK rounds of mixing; it writes a line to standard output, and to FILE, which is
// appended to; every tenth to standard error. Before its last line it waits until the FIFO
// $COUNTER_HOLD has a writer, if it is told of one: what a test does to it comes before its end.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

std::uint64_t mix(std::uint64_t x, long rounds) {
  for (long i = 0; i < rounds; ++i) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu + static_cast<std::uint64_t>(i);
  }
  return x;
}

// A child that gives back each number that it gets, mixed: over a pipe and a socket.
struct Partner {
  Partner() {
    if (::pipe(to) != 0 || ::socketpair(AF_UNIX, SOCK_STREAM, 0, back) != 0) std::abort();
    child = ::fork();
    if (child != 0) return;
    ::close(to[1]);
    for (std::uint64_t x = 0; ::read(to[0], &x, sizeof x) == sizeof x;) {
      x = mix(x, 3);
      if (::write(back[1], &x, sizeof x) != sizeof x) break;
    }
    ::_exit(0);
  }
  std::uint64_t ask(std::uint64_t x) {
    if (::write(to[1], &x, sizeof x) != sizeof x || ::read(back[0], &x, sizeof x) != sizeof x)
      std::abort();
    return x;
  }
  void end() {
    ::close(to[1]);
    ::waitpid(child, nullptr, 0);
  }
  int to[2], back[2];
  pid_t child = 0;
};

void wait_until_let_go() {
  const char* const fifo = std::getenv("COUNTER_HOLD");
  if (fifo == nullptr || *fifo == '\0') return;
  int fd = -1;
  while ((fd = ::open(fifo, O_RDONLY | O_CLOEXEC)) < 0) {
    if (errno != EINTR) std::abort();
  }
  ::close(fd);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const long steps = std::atol(argv[1]), work = std::atol(argv[3]);
  // Before there is memory: a child's copy of it would be in the image as well.
  Partner partner;
  std::vector<std::uint64_t> memory(static_cast<std::size_t>(std::atol(argv[2])) * (1 << 20) / 8 +
                                    1);
  std::FILE* const file = argc > 5 ? std::fopen(argv[5], "a") : nullptr;
  std::FILE* const deleted = std::tmpfile();
  auto* const shared = static_cast<std::uint64_t*>(
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = i * 0x9E3779B97F4A7C15u;
  std::uint64_t x = 1;
  for (long step = 1; step <= steps; ++step) {
    x = mix(x, work);
    std::uint64_t& place = memory[static_cast<std::size_t>(x % memory.size())];
    std::uint64_t from_thread = 0;
    std::thread([&] { from_thread = mix(place, 5); }).join();
    place = x = partner.ask(x + from_thread);
    *shared += x;
    std::fprintf(deleted, "%llx\n", static_cast<unsigned long long>(x));
    std::printf("%ld %016llx\n", step, static_cast<unsigned long long>(x));
    std::fflush(stdout);
    if (step % 10 == 0) std::fprintf(stderr, "error line %ld\n", step);
    if (file != nullptr) {
      std::fprintf(file, "%ld %016llx\n", step, static_cast<unsigned long long>(x));
      std::fflush(file);
    }
  }
  wait_until_let_go();
  partner.end();
  std::printf("end %016llx %ld\n", static_cast<unsigned long long>(*shared), std::ftell(deleted));
  return std::atoi(argv[4]);
}
