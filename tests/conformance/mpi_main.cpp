// The suite of every transport, by MPI: to be started by mpirun with one rank.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>

#include "process.h"

int main(int argc, char** argv) {
  auto world = piracema::net::MpiWorld::begin();
  if (!world) {
    std::fprintf(stderr, "%s\n", world.error().message.c_str());
    return 1;
  }
  piracema::net::Mpi::world = world->get();
  const int code = doctest::Context(argc, argv).run();
  (*world)->end();
  return code;
}
