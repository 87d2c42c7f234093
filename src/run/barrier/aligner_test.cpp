#include "run/barrier/aligner.h"

#include <doctest/doctest.h>

using piracema::runtime::Aligner;

TEST_CASE("an input is held from its own barrier until the last one arrives") {
  Aligner aligner(3);

  CHECK_FALSE(aligner.on_barrier(0, 1));
  CHECK_FALSE(aligner.on_barrier(2, 1));
  CHECK(aligner.is_blocked(0));
  CHECK_FALSE(aligner.is_blocked(1));

  CHECK(aligner.on_barrier(1, 1) == 1);
  CHECK_FALSE(aligner.is_blocked(0));
}

TEST_CASE("an input that has ended does not keep a barrier waiting") {
  Aligner aligner(2);
  CHECK_FALSE(aligner.on_end(0));
  CHECK(aligner.on_barrier(1, 5) == 5);
}

TEST_CASE("the end of the last missing input completes the barrier") {
  Aligner aligner(2);
  CHECK_FALSE(aligner.on_barrier(0, 5));
  CHECK(aligner.on_end(1) == 5);
  CHECK_FALSE(aligner.all_ended());
  CHECK_FALSE(aligner.on_end(0));
  CHECK(aligner.all_ended());
}

TEST_CASE("the next barrier is aligned like the first") {
  Aligner aligner(2);
  aligner.on_barrier(0, 1);
  CHECK(aligner.on_barrier(1, 1) == 1);
  CHECK_FALSE(aligner.on_barrier(1, 3));
  CHECK(aligner.is_blocked(1));
  CHECK(aligner.on_barrier(0, 3) == 3);
}
