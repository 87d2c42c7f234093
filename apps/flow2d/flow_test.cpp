#include "apps/flow2d/flow.h"

#include <doctest/doctest.h>

#include <cmath>

using flow2d::Flow;

namespace {

Flow& run_until(Flow& flow, double time) {
  while (flow.time() < time) flow.step();
  return flow;
}

}  // namespace

TEST_CASE("vortices drift and slow down as the exact solution of Navier and Stokes says") {
  Flow flow(64, 64);
  CHECK(flow.energy() == doctest::Approx(0.25).epsilon(1e-12));
  run_until(flow, 2);
  // They are a whole unit from where they were: with no drift at all every speed would be wrong.
  CHECK(flow.decay() < 0.93);
  CHECK(flow.error() < 0.01);
  CHECK(flow.energy() == doctest::Approx(0.25 * flow.decay() * flow.decay()).epsilon(0.01));
}

TEST_CASE("a grid twice as fine comes nearer to the exact solution") {
  Flow coarse(16, 16), fine(32, 32);
  CHECK(run_until(fine, 1).error() < 0.5 * run_until(coarse, 1).error());
}

TEST_CASE("memory for a larger problem changes nothing of the result") {
  Flow exact(16, 16), roomy(16, 400);
  CHECK(run_until(exact, 0.5).error() == run_until(roomy, 0.5).error());
}
