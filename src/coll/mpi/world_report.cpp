// What is known at the end of a job, from all ranks.
#include <algorithm>
#include <cstdio>
#include <thread>

#include "base/hint.h"
#include "base/log.h"
#include "base/text.h"
#include "coll/mpi/group.h"
#include "coll/mpi/probe/mst_runner.h"
#include "coll/mpi/probe/seen.h"

namespace piracema::coll::mpi {

namespace {

/// A round that is over at rank 0 is soon over everywhere.
constexpr std::chrono::seconds round_spreads_within{2};
constexpr double no_cost = -1;

}  // namespace

Totals World::count_all() {
  std::uint64_t mine[2] = {probes_ ? probes_->packets_sent() : 0, 0}, all[2] = {};
  Totals totals;
  for (Group* group : groups_) {
    if (group->windows().spent() != nullptr && group->size() == size_)
      totals.calls.add(*group->windows().spent());
    const MstRunner* mst = group->mst();
    if (mst == nullptr) continue;
    mine[1] += mst->letters();
    if (const auto round = mst->round()) totals.rounds += *round + 1;
  }
  PMPI_Reduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, 0, own_);
  totals.probes = all[0];
  totals.letters = all[1];
  if (settings_.engine == Engine::mst) {
    totals.mst = mst_tree();
    totals.mst_uses = gather_text(mst_uses());
  }
  return totals;
}

// Every rank knows its own neighbours and nothing else, so all have to say them.
MstTree World::mst_tree() {
  MstRunner* mst = nullptr;
  for (Group* group : groups_) {
    if (group->user() == MPI_COMM_WORLD) mst = group->mst();
  }
  MstTree found;
  const auto last = mst ? mst->round() : std::nullopt;
  std::int64_t round = last ? std::int64_t{*last} : -1;
  PMPI_Bcast(&round, 1, MPI_INT64_T, 0, own_);
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
              own_);
  PMPI_Gather(costs.data(), as_int(size_), MPI_DOUBLE, found.costs.data(), as_int(size_),
              MPI_DOUBLE, 0, own_);
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

std::string World::mst_uses() const {
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

std::string World::gather_text(const std::string& mine) const {
  int length = as_int(mine.size());
  std::vector<int> lengths(size_), places(size_, 0);
  PMPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, own_);
  for (Rank rank = 1; rank < size_; ++rank) places[rank] = places[rank - 1] + lengths[rank - 1];
  std::string all(static_cast<std::size_t>(me_ == 0 ? places.back() + lengths.back() : 0), ' ');
  PMPI_Gatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), places.data(), MPI_CHAR,
               0, own_);
  return all;
}

void World::report(const Job& job) {
  // All have the setting of their own environment; rank 0's counts.
  int wanted = !settings_.report.empty();
  PMPI_Bcast(&wanted, 1, MPI_INT, 0, own_);
  if (wanted == 0) return;
  std::string lines;
  for (const std::string& line : trees_) lines += line;
  const std::string all = gather_text(lines);
  const Totals totals = count_all();
  if (me_ != 0) return;
  if (auto written = write_report(job, probes_.get(), totals, all); !written) {
    log(Level::warning, written.error().message);
  }
}

void World::say(const Job& job, const World* world) {
  if (!job.settings.summary) return;
  std::string line = concat("intercepted ", seen.intercepted.load(), " of ", seen.calls.load(),
                            " collective calls of rank 0, ", seen.ours.load(), " along trees");
  if (!job.left_alone.empty()) line += concat(": ", job.left_alone, ", left alone");
  log(Level::info, line);
  if (world == nullptr) return;
  std::size_t measured = 0;
  if (world->probes_) world->probes_->links(&measured);
  if (measured == 0 && job.settings.engine != Engine::binomial) {
    log(Level::warning,
        "no link was measured: the job was too short, or UDP is shut out between its hosts; trees "
        "did not follow the network");
  }
  double gained = 0;
  for (Group* group : world->groups_) {
    if (group->windows().spent() != nullptr) gained += group->windows().spent()->gained();
    const Group::MstUse& use = group->mst_use();
    const std::uint64_t before = use.binomial + use.own_view;
    if (before == 0) continue;
    log(Level::info,
        concat(before, " broadcasts of rank 0 went before the first round of engine mst was over: ",
               use.binomial, " along a binomial tree, ", use.own_view, " along one of its own"));
  }
  if (gained < 0) {
    char ms[32];
    std::snprintf(ms, sizeof ms, "%.1f", -gained * 1e3);
    log(Level::warning, with_hint(concat("trees took ", std::string_view(ms),
                                         " ms longer than the MPI library's own collectives, as "
                                         "measured"),
                                  "--engine native leaves all to it"));
  }
}

}  // namespace piracema::coll::mpi
