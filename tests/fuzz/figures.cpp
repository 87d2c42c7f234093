// Feeds mutated bytes to what reads the figures of an MPI job, and shows what is read.
//
//     fuzz_figures [SECONDS]       some thousand inputs, or as many as fit into the time
//     PIRACEMA_SEED=4711 fuzz_figures      one
//
// What must hold: nothing crashes (the sanitizers look on in the preset dev); what is read is read
// again as it was written, makes JSON that a parser takes, and metrics without a number that is
// none.
#include "coll/figures/figures.h"

#include <nlohmann/json.hpp>
#include <string>

#include "base/random.h"
#include "base/text.h"
#include "coll/figures/testing.h"
#include "fuzzing.h"
#include "tools/coll/coll_site.h"

using namespace piracema;
using namespace piracema::tools;
using coll::JobFigures;

namespace {

constexpr std::uint64_t inputs_in_a_test = 50'000;
/// Magic number and version: most inputs are to get behind these.
constexpr std::size_t body_at = 8;

JobFigures some(Random& random) {
  JobFigures figures = coll::testing::figures_of_four();
  if (random.chance(0.5)) {
    figures.engine = "mst";
    figures.mst = {.rounds = 2,
                   .letters = 40,
                   .along_rounds = 9,
                   .neighbours = {1, 3},
                   .costs = {0.01, 0.02},
                   .parents = {coll::no_rank, 0, 1, 0},
                   .latencies = {-1, 0.01, 0.03, 0.02}};
  }
  if (random.chance(0.1)) figures.left_alone = "one host";
  return figures;
}

/// Why what this seed makes was read wrongly; empty if it was not.
std::string run_one(std::uint64_t seed) {
  Random random(seed);
  std::string bytes(as_text(coll::encode(some(random))));
  fuzzing::mutate(bytes, random.below(4), random, random.chance(0.05) ? 0 : body_at);
  const auto read = coll::decode_figures(as_bytes(bytes));
  if (!read) return {};
  const auto again = coll::decode_figures(coll::encode(*read));
  if (!again || as_text(coll::encode(*again)) != as_text(coll::encode(*read))) {
    return "what was read is written as something else";
  }
  CollBoard board({{"mpirun", "program"}, "openmpi", Time{}});
  board.show(*read, Time{1});
  const auto sight = board.latest();
  const auto json = nlohmann::json::parse(coll_json(*sight, Time{2}, 1e9), nullptr, false);
  if (json.is_discarded() || !json.contains("job")) return "its JSON is none";
  for (const auto format :
       {observe::MetricsFormat::prometheus, observe::MetricsFormat::openmetrics}) {
    const std::string text = metrics(*sight, Time{2}, 1e9, format);
    if (text.find(" nan\n") != text.npos || text.find(" inf\n") != text.npos) {
      return "a metric is no number";
    }
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) { return fuzzing::run(argc, argv, inputs_in_a_test, run_one); }
