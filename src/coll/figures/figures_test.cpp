#include "coll/figures/figures.h"

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <utility>

#include "base/text.h"
#include "coll/figures/testing.h"

using namespace piracema;
using namespace piracema::coll;
using coll::testing::figures_of_four;

namespace {

/// Whether they are read again after this change.
bool is_read(const std::function<void(JobFigures&)>& change) {
  JobFigures figures = figures_of_four();
  change(figures);
  return decode_figures(encode(figures)).ok();
}

}  // namespace

TEST_CASE("figures are read as they were written") {
  JobFigures figures = figures_of_four();
  figures.engine = "mst";
  figures.mst = {.rounds = 2,
                 .letters = 40,
                 .along_rounds = 9,
                 .binomial = 3,
                 .own_view = 1,
                 .fallen_back = 1,
                 .neighbours = {1, 3},
                 .costs = {0.01, 0.02},
                 .parents = {no_rank, 0, 1, 0},
                 .latencies = {-1, 0.01, 0.03, 0.02}};
  const Buffer bytes = encode(figures);
  const auto read = decode_figures(bytes);
  REQUIRE(read.ok());
  CHECK(as_text(encode(*read)) == as_text(bytes));
  CHECK(read->trees[0].parents == std::vector<Rank>{no_rank, 0, 1, 0});
  CHECK(read->mst.neighbours == std::vector<Rank>{1, 3});
  CHECK(read->mst.parents[2] == 1);
  CHECK(read->links[2].latency < 0);
}

TEST_CASE("of a job that is left alone there is not much, whatever its size") {
  JobFigures figures;
  figures.engine = "auto";
  figures.ranks = 5'000;
  figures.left_alone = "more than 1024 ranks";
  figures.calls = 3;
  const auto read = decode_figures(encode(figures));
  REQUIRE(read.ok());
  CHECK(read->left_alone == "more than 1024 ranks");
}

TEST_CASE("what makes no sense is no figures") {
  CHECK(is_read([](JobFigures&) {}));
  const std::pair<const char*, std::function<void(JobFigures&)>> wrong[] = {
      {"no rank", [](JobFigures& f) { f.ranks = 0; }},
      {"ranks that lists do not fit", [](JobFigures& f) { f.ranks = 5; }},
      {"more calls of ours than there were", [](JobFigures& f) { f.ours = 105; }},
      {"more calls that were looked at", [](JobFigures& f) { f.intercepted = 111; }},
      {"a host that there is not", [](JobFigures& f) { f.host_of[3] = 2; }},
      {"a site that there is not", [](JobFigures& f) { f.site_of[3] = 4; }},
      {"too few sites", [](JobFigures& f) { f.site_latencies.pop_back(); }},
      {"a class of calls", [](JobFigures& f) { f.by_class[0].call_class = 32; }},
      {"a link to nobody", [](JobFigures& f) { f.links[0].to = 4; }},
      {"a latency that is no number",
       [](JobFigures& f) { f.links[0].latency = std::numeric_limits<double>::quiet_NaN(); }},
      {"an endless latency",
       [](JobFigures& f) { f.links[0].latency = std::numeric_limits<double>::infinity(); }},
      {"a circle of parents",
       [](JobFigures& f) {
         f.trees[0].parents = {no_rank, 2, 1, 0};
       }},
      {"two roots", [](JobFigures& f) { f.trees[0].parents[1] = no_rank; }},
      {"no root", [](JobFigures& f) { f.trees[0].parents[0] = 1; }},
      {"a tree of others", [](JobFigures& f) { f.trees[0].parents.push_back(0); }},
      {"too many trees", [](JobFigures& f) { f.trees.resize(9, f.trees[0]); }},
      {"a neighbour without a cost", [](JobFigures& f) { f.mst.neighbours = {1}; }},
      {"half of a distributed tree",
       [](JobFigures& f) {
         f.mst.parents = {no_rank, 0, 1, 0};
       }},
      {"a circle of it",
       [](JobFigures& f) {
         f.mst.parents = {no_rank, 2, 1, 0};
         f.mst.latencies.assign(4, 0);
       }},
      {"more links measured than there are", [](JobFigures& f) { f.pairs_measured = 7; }},
      {"a text without end", [](JobFigures& f) { f.mpi.assign(513, 'x'); }},
      {"a gain that is no number",
       [](JobFigures& f) { f.gained = std::numeric_limits<double>::quiet_NaN(); }},
  };
  for (const auto& [what, change] : wrong) {
    CAPTURE(what);
    CHECK_FALSE(is_read(change));
  }
}

TEST_CASE("what is cut, or has more behind it, is no figures") {
  const Buffer whole = encode(figures_of_four());
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    CHECK_FALSE(decode_figures(Bytes(whole).first(bytes)).ok());
  }
  Buffer more = whole;
  more.append(whole.data(), 1);
  CHECK_FALSE(decode_figures(more).ok());
}

TEST_CASE("figures of another version say so") {
  Buffer bytes = encode(figures_of_four());
  bytes.data()[4] = std::byte{2};
  const auto read = decode_figures(bytes);
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().message.find("another version") != std::string::npos);
}
