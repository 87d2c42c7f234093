#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "topology/trees/costs.h"
#include "topology/trees/tree.h"

namespace piracema::tools {

/// A tree of broadcasts as it came into use.
struct UsedTree {
  double at_s = 0, expected_ms = 0, binomial_ms = 0;
  std::uint64_t bytes = 0;
  coll::Tree tree;
};

/// Calls of one kind and about one size, by our way and the MPI library's own.
struct Calls {
  std::string call;
  std::uint64_t bytes_max = 0, ours = 0, native = 0;
  double ours_ms = 0, native_ms = 0;
};

/// What one end of a link expects of it.
struct Forecast {
  coll::Rank to = 0;
  double forecast_ms = 0, error_ms = 0;
  std::string by;
};

/// Along which trees a root's broadcasts went with engine mst.
struct MstBroadcasts {
  coll::Rank root = 0;
  std::uint64_t binomial = 0, own_view = 0, fallen_back = 0;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> rounds;
};

/// When a round of the distributed tree began and was over at rank 0, seconds since MPI_Init.
struct MstRoundTime {
  std::uint32_t round = 0;
  double began_s = 0, over_s = 0;
};

struct CollReport {
  std::string engine;
  coll::Rank ranks = 0;
  /// Why nothing was done; empty: something was.
  std::string left_alone;
  std::uint64_t calls_of_rank_0 = 0, intercepted = 0, ours = 0;
  /// Engine mst.
  std::uint64_t rounds = 0, letters = 0;
  std::vector<MstBroadcasts> mst_broadcasts;
  std::vector<MstRoundTime> mst_rounds;
  std::optional<std::pair<std::uint32_t, coll::Tree>> mst;
  coll::LinkTable links{0};
  std::vector<Forecast> forecasts;
  std::vector<Calls> calls;
  std::vector<UsedTree> trees;
};

/// A report as `PIRACEMA_COLL_REPORT` has it written (docs/formats/coll.md). Throws what the parser
/// throws, and std::out_of_range, for what is none.
CollReport read_coll_report(std::istream& file);

}  // namespace piracema::tools
