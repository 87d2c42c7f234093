// The supervisor as a program, for the test of it.
#include <string>
#include <vector>

#include "jobs/local/supervisor.h"

int main(int argc, char** argv) {
  return piracema::jobs::run_supervisor(std::vector<std::string>(argv + 1, argv + argc));
}
