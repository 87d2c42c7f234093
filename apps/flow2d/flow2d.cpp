// A sequential solver of partial differential equations in mechanics of fluids, as paper 002
// (section 4.1) has one in its EDP: flow.h. It knows nothing of checkpoints.
//
//   flow2d N STEPS [REPORT_EVERY [MOST]]
//
// It has five grids of N x N, and reserves memory for grids of MOST x MOST.
// Every REPORT_EVERY steps it writes the time in the fluid and the energy of its vortices; at the
// end also how far it is from the exact solution. The output depends on N, STEPS and REPORT_EVERY
// alone.
#include <cstdio>
#include <cstdlib>
#include <new>

#include "flow.h"

int main(int argc, char** argv) {
  const long n = argc > 1 ? std::atol(argv[1]) : 0, steps = argc > 2 ? std::atol(argv[2]) : 0,
             every = argc > 3 ? std::atol(argv[3]) : 0, most = argc > 4 ? std::atol(argv[4]) : n;
  if (n < 4 || most < n || most > 40'000 || steps < 1 || every < 0) {
    std::fprintf(stderr, "flow2d: want N STEPS [REPORT_EVERY [MOST]], 4 <= N <= MOST <= 40000\n");
    return 2;
  }
  try {
    flow2d::Flow flow(n, most);
    for (long step = 1; step <= steps; ++step) {
      flow.step();
      if (every == 0 || step % every != 0) continue;
      std::printf("step %ld time %.17g energy %.17g\n", step, flow.time(), flow.energy());
      std::fflush(stdout);
    }
    std::printf("energy %.17g error %.17g\n", flow.energy(), flow.error());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "flow2d: want memory for five grids of %ld x %ld\n", most, most);
    return 1;
  }
  return 0;
}
