// Carbon dioxide in groundwater, as it is stored underground: reactions along a column of rock
// (column.h). A sequential program that runs for long and needs little memory, as paper 002
// (section 4.1) has one in Phreeqc. It knows nothing of checkpoints.
//
//   carbonate CELLS STEPS [REPORT_EVERY]      48 bytes a cell
//
// Every REPORT_EVERY steps it writes how much calcite is left, and the pH of the first and the last
// cell. The output depends on its words alone.
#include <cstdio>
#include <cstdlib>

#include "column.h"

int main(int argc, char** argv) {
  const long cells = argc > 1 ? std::atol(argv[1]) : 0, steps = argc > 2 ? std::atol(argv[2]) : 0,
             every = argc > 3 ? std::atol(argv[3]) : 0;
  if (cells < 1 || cells > 100'000'000 || steps < 1 || every < 0) {
    std::fprintf(stderr, "carbonate: want CELLS STEPS [REPORT_EVERY], 1 <= CELLS <= 100000000\n");
    return 2;
  }
  carbonate::Column column(cells);
  for (long step = 1; step <= steps; ++step) {
    if (!column.step()) {
      std::fprintf(stderr, "carbonate: step %ld has no equilibrium\n", step);
      return 1;
    }
    if ((every == 0 || step % every != 0) && step != steps) continue;
    std::printf("step %ld calcite %.17g pH %.17g to %.17g\n", step, column.calcite(), column.ph(0),
                column.ph(cells - 1));
    std::fflush(stdout);
  }
  return 0;
}
