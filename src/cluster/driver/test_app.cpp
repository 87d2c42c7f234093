// The program that driver_test.cpp runs: counts, takes its time, and writes what came out. It is
// the agent of its jobs as well.
//
//     driver_test_app OUT ITEMS [freeze|throw|slow]
//
// `slow` takes 3 ms for an item and not a fifth of one: what is done to the job comes before its
// end. With `freeze` a process stops itself at an item in the middle, once: OUT.frozen tells that
// it has. With `throw` an operator fails at that item every time.
#include <fcntl.h>
#include <piracema/piracema.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "host/agent.h"

using namespace piracema;

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "agent") {
    return cluster::run_agent(argc - 1, argv + 1);
  }
  if (argc < 3) return 2;
  const std::string out = argv[1];
  const std::int64_t items = std::atoll(argv[2]);
  const std::string how = argc > 3 ? argv[3] : "";
  const auto work = [=](const std::int64_t& n) {
    std::this_thread::sleep_for(std::chrono::microseconds(how == "slow" ? 3'000 : 200));
    if (n == items / 2 && how == "throw") throw std::runtime_error("no half measures");
    if (n == items / 2 && how == "freeze" &&
        ::open((out + ".frozen").c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600) >= 0) {
      ::raise(SIGSTOP);
    }
    return std::to_string(n);
  };
  return run(pipeline(source("numbers", Sequence{1, items}), farm("work", 3, work).ordered(),
                      sink("lines", LineSink(out))));
}
