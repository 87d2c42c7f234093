#pragma once

#include "coll/figures/figures.h"

namespace piracema::coll::testing {

/// Of four ranks on two hosts: two sites, and both ways of broadcasts tried.
inline JobFigures figures_of_four() {
  JobFigures figures;
  figures.number = 7;
  figures.engine = "auto";
  figures.mpi = "Open MPI v4.1.4";
  figures.host = "a";
  figures.ranks = 4;
  figures.process = 4'711;
  figures.hosts = {"a", "b"};
  figures.host_of = {0, 0, 1, 1};
  figures.nonblocking = true;
  figures.ran = 12.5;
  figures.calls = 110;
  figures.intercepted = 104;
  figures.ours = 90;
  figures.gained = 0.95;
  figures.by_class = {{.call_class = 0,
                       .ours = 90,
                       .native = 4,
                       .ours_took = 0.4,
                       .native_took = 0.06,
                       .go_ours = true},
                      {.call_class = 8,
                       .ours = 0,
                       .native = 10,
                       .ours_took = 0,
                       .native_took = 0.02,
                       .go_ours = false}};
  figures.pairs = 6;
  figures.pairs_measured = 5;
  figures.links = {{.to = 1,
                    .latency = 0.00004,
                    .error = 0.000001,
                    .megabyte_to = 0.001,
                    .megabyte_from = 0.002,
                    .age = 0.25},
                   {.to = 2, .latency = 0.02, .error = 0.0002, .age = 0.5},
                   {.to = 3}};
  figures.site_of = {0, 0, 1, 1};
  figures.site_latencies = {0.00004, 0.02, 0.02, 0.00005};
  figures.trees_made = 3;
  figures.trees = {{.at = 1.5,
                    .bytes = 1'024,
                    .expected = 0.0201,
                    .binomial = 0.04,
                    .parents = {no_rank, 0, 1, 0},
                    .latencies = {-1, 0.00004, 0.02, 0.0201}}};
  return figures;
}

}  // namespace piracema::coll::testing
