#include "coll/mpi/final_count.h"

#include <algorithm>
#include <optional>
#include <thread>
#include <vector>

#include "base/text.h"
#include "coll/mpi/group.h"

namespace piracema::coll::mpi {

namespace {

/// A round that is over at rank 0 is soon over everywhere.
constexpr std::chrono::seconds round_spreads_within{2};
constexpr double no_cost = -1;

}  // namespace

Totals FinalCount::totals(Engine engine, const ProbeThread* probes) const {
  std::uint64_t mine[2] = {probes ? probes->packets_sent() : 0, 0}, all[2] = {};
  Totals totals;
  for (Group* group : groups_) {
    const WindowCosts* const spent = group->windows().spent();
    if (spent != nullptr && group->size() == size_) totals.calls.add(*spent);
    const MstRunner* mst = group->mst();
    if (mst == nullptr) continue;
    mine[1] += mst->letters();
    if (const auto round = mst->round()) totals.rounds += *round + 1;
    if (group->user() == MPI_COMM_WORLD) totals.mst_times = mst->times();
  }
  PMPI_Reduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, 0, comm_);
  totals.probes = all[0];
  totals.letters = all[1];
  if (engine == Engine::mst) {
    totals.mst = mst_tree();
    totals.mst_uses = text(mst_uses());
  }
  return totals;
}

// Every rank knows its own neighbours and nothing else, so all have to say them.
MstTree FinalCount::mst_tree() const {
  MstRunner* mst = nullptr;
  for (Group* group : groups_) {
    if (group->user() == MPI_COMM_WORLD) mst = group->mst();
  }
  MstTree found;
  const auto last = mst ? mst->round() : std::nullopt;
  std::int64_t round = last ? std::int64_t{*last} : -1;
  PMPI_Bcast(&round, 1, MPI_INT64_T, 0, comm_);
  if (round < 0) return found;
  found.round = static_cast<std::uint32_t>(round);
  std::optional<MstRunner::Part> part;
  const Time until = now() + round_spreads_within;
  while (mst && !(part = mst->part(found.round)) && now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::vector<char> edges(size_, 0), all_edges(me_ == 0 ? std::size_t{size_} * size_ : 0);
  std::vector<double> costs(size_, no_cost);
  if (part) {
    for (const Rank to : part->neighbours) edges[to] = 1;
    for (const auto& [to, cost] : part->costs) costs[to] = cost;
    costs[me_] = 0;
  }
  found.costs.resize(me_ == 0 ? std::size_t{size_} * size_ : 0);
  PMPI_Gather(edges.data(), as_int(size_), MPI_CHAR, all_edges.data(), as_int(size_), MPI_CHAR, 0,
              comm_);
  PMPI_Gather(costs.data(), as_int(size_), MPI_DOUBLE, found.costs.data(), as_int(size_),
              MPI_DOUBLE, 0, comm_);
  if (me_ != 0 || std::count(found.costs.begin(), found.costs.end(), no_cost) > 0) return found;
  std::vector<std::pair<Rank, Rank>> links;
  for (Rank a = 0; a < size_; ++a) {
    for (Rank b = a + 1; b < size_; ++b) {
      if (all_edges[std::size_t{a} * size_ + b] != 0) links.emplace_back(a, b);
    }
  }
  if (links.size() + 1 != size_) return found;
  found.tree = hang(size_, 0, links);
  found.known = std::count(found.tree.parent.begin(), found.tree.parent.end(), no_rank) == 1;
  return found;
}

std::string FinalCount::mst_uses() const {
  std::string out;
  for (Group* group : groups_) {
    const Group::MstUse& use = group->mst_use();
    if (group->user() != MPI_COMM_WORLD) continue;
    if (use.rounds.empty() && use.own_view + use.binomial == 0) continue;
    std::string rounds;
    for (const auto& [round, count] : use.rounds) {
      rounds += concat(rounds.empty() ? "" : ", ", "[", round, ", ", count, "]");
    }
    out += concat(" {\"root\": ", me_, ", \"binomial\": ", use.binomial,
                  ", \"own_view\": ", use.own_view, ", \"fallen_back\": ", use.fallen_back,
                  ", \"rounds\": [", rounds, "]},\n");
  }
  return out;
}

std::string FinalCount::text(const std::string& mine) const {
  int length = as_int(mine.size());
  std::vector<int> lengths(size_), places(size_, 0);
  PMPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, comm_);
  for (Rank rank = 1; rank < size_; ++rank) places[rank] = places[rank - 1] + lengths[rank - 1];
  std::string all(static_cast<std::size_t>(me_ == 0 ? places.back() + lengths.back() : 0), ' ');
  PMPI_Gatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), places.data(), MPI_CHAR,
               0, comm_);
  return all;
}

}  // namespace piracema::coll::mpi
