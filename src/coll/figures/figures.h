#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "topology/trees/costs.h"

namespace piracema::coll {

/// What rank 0 knows of a running job: for people and for monitoring, and no proof of anything.
/// Times are in seconds; below 0 where they are not known.
struct JobFigures {
  /// A link of rank 0.
  struct Link {
    Rank to = 0;
    double latency = -1;
    /// How far forecasts of it lie from what comes, on the average.
    double error = -1;
    /// What a megabyte takes there, and from there.
    double megabyte_to = -1, megabyte_from = -1;
    /// Since an answer came.
    double age = -1;
    auto fields() { return std::tie(to, latency, error, megabyte_to, megabyte_from, age); }
  };
  /// Calls of one class, on communicators of all ranks and in windows that are over.
  struct Calls {
    /// As in coll/plan/call.h.
    std::uint32_t call_class = 0;
    std::uint64_t ours = 0, native = 0;
    /// Of all together, at the rank that was slowest in each window.
    double ours_took = 0, native_took = 0;
    /// Which way they go now.
    bool go_ours = false;
    auto fields() { return std::tie(call_class, ours, native, ours_took, native_took, go_ours); }
  };
  /// A tree of rank 0's own broadcasts.
  struct UsedTree {
    /// When it came into use, since MPI_Init.
    double at = 0;
    std::uint64_t bytes = 0;
    double expected = 0, binomial = 0;
    /// no_rank for rank 0.
    std::vector<Rank> parents;
    /// Of the link to the parent.
    std::vector<double> latencies;
    auto fields() { return std::tie(at, bytes, expected, binomial, parents, latencies); }
  };
  /// Engine mst; what rank 0 has seen of it.
  struct Mst {
    std::uint64_t rounds = 0, letters = 0;
    /// Its broadcasts along the trees of rounds; before the first one, along a binomial tree and
    /// along one of its own; and of these those that came after a round.
    std::uint64_t along_rounds = 0, binomial = 0, own_view = 0, fallen_back = 0;
    /// In the last round's tree, and what that took the links to cost.
    std::vector<Rank> neighbours;
    std::vector<double> costs;
    /// All of that tree as it hangs from rank 0, and what is known of the links to the parents;
    /// empty as long as not all ranks have told of it.
    std::vector<Rank> parents;
    std::vector<double> latencies;
    auto fields() {
      return std::tie(rounds, letters, along_rounds, binomial, own_view, fallen_back, neighbours,
                      costs, parents, latencies);
    }
  };

  /// Another one each time.
  std::uint64_t number = 0;
  bool is_over = false;
  std::string engine, mpi, host;
  std::uint32_t ranks = 0, process = 0;
  /// Why nothing is done; empty: something is.
  std::string left_alone;
  /// And which of them each rank runs on; empty where the ranks have not met.
  std::vector<std::string> hosts;
  std::vector<std::uint32_t> host_of;
  /// Links are emulated; MPI_Ibcast can go along trees.
  bool emulates = false, nonblocking = false;
  /// Since MPI_Init.
  double ran = 0;
  /// Collective calls of rank 0: all, those that were looked at, those that went along trees.
  std::uint64_t calls = 0, intercepted = 0, ours = 0;
  double gained = 0;
  std::vector<Calls> by_class;
  std::uint64_t pairs = 0, pairs_measured = 0;
  std::vector<Link> links;
  /// Learnt from the links: where each rank is, and the least latency between any two sites, row by
  /// row; empty as long as nothing is known, and of more than `sites_shown_max`.
  std::vector<std::uint32_t> site_of;
  std::vector<double> site_latencies;
  /// How many came into use, and the newest for each size of messages, oldest first.
  std::uint64_t trees_made = 0;
  std::vector<UsedTree> trees;
  Mst mst;
  auto fields() {
    return std::tie(number, is_over, engine, mpi, host, ranks, process, left_alone, hosts, host_of,
                    emulates, nonblocking, ran, calls, intercepted, ours, gained, by_class, pairs,
                    pairs_measured, links, site_of, site_latencies, trees_made, trees, mst);
  }

  static constexpr std::size_t trees_max = 8, sites_shown_max = 32, text_bytes_max = 512;
};

/// As they lie in a file (docs/formats/coll.md).
Buffer encode(const JobFigures& figures);
/// Errc::corrupt for what is none, or makes no sense: lists fit the number of ranks, parents are a
/// tree, numbers are numbers.
Result<JobFigures> decode_figures(Bytes in);

}  // namespace piracema::coll
