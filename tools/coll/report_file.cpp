#include "tools/coll/report_file.h"

#include <nlohmann/json.hpp>

namespace piracema::tools {

using namespace coll;
using nlohmann::json;

namespace {

Tree tree_of(Rank size, Rank root, const std::vector<int>& parents) {
  if (parents.size() != size || root >= size) throw std::out_of_range("parents");
  std::vector<std::pair<Rank, Rank>> edges;
  for (Rank rank = 0; rank < size; ++rank) {
    if (rank == root) continue;
    if (parents[rank] < 0 || static_cast<Rank>(parents[rank]) >= size) {
      throw std::out_of_range("parents");
    }
    edges.emplace_back(static_cast<Rank>(parents[rank]), rank);
  }
  // A circle would not hang from the root.
  for (Rank rank = 0; rank < size; ++rank) {
    Rank steps = 0;
    for (Rank at = rank; at != root; at = static_cast<Rank>(parents[at])) {
      if (++steps > size) throw std::out_of_range("parents");
    }
  }
  return hang(size, root, edges);
}

}  // namespace

CollReport read_coll_report(std::istream& file) {
  const json from = json::parse(file);
  CollReport report;
  report.engine = from.at("engine");
  report.ranks = from.at("ranks");
  report.left_alone = from.value("left_alone", "");
  if (report.ranks < (report.left_alone.empty() ? 2u : 1u) ||
      (report.left_alone.empty() && report.ranks > 1'024))
    throw std::out_of_range("ranks");
  report.calls_of_rank_0 = from.value("calls_of_rank_0", std::uint64_t{0});
  report.intercepted = from.value("intercepted", std::uint64_t{0});
  report.ours = from.value("ours", std::uint64_t{0});
  report.rounds = from.value("rounds", std::uint64_t{0});
  report.letters = from.value("letters", std::uint64_t{0});
  if (!report.left_alone.empty()) return report;
  for (const json& line : from.value("mst_broadcasts", json::array())) {
    report.mst_broadcasts.push_back({line.at("root"), line.at("binomial"), line.at("own_view"),
                                     line.at("fallen_back"), line.at("rounds")});
  }
  for (const json& line : from.value("mst_rounds", json::array())) {
    report.mst_rounds.push_back({line.at("round"), line.at("began_s"), line.at("over_s")});
  }
  if (from.contains("mst")) {
    const json& mst = from["mst"];
    report.mst.emplace(mst.at("round"),
                       tree_of(report.ranks, 0, mst.at("parents").get<std::vector<int>>()));
  }
  report.links = LinkTable(report.ranks);
  if (from.contains("latency_ms")) {
    const json& rows = from["latency_ms"];
    for (Rank a = 0; a < report.ranks; ++a) {
      for (Rank b = 0; b < report.ranks; ++b) {
        report.links.at(a, b).latency = rows.at(a).at(b).get<double>() / 1e3;
      }
    }
  }
  for (const json& line : from.value("forecasts_of_rank_0", json::array())) {
    report.forecasts.push_back(
        {line.at("to"), line.at("forecast_ms"), line.at("error_ms"), line.at("by")});
  }
  for (const json& line : from.value("calls", json::array())) {
    report.calls.push_back({line.at("call"), line.at("bytes_max"), line.at("ours"),
                            line.at("native"), line.at("ours_ms"), line.at("native_ms")});
  }
  for (const json& line : from.at("trees")) {
    UsedTree used{
        line.at("at_s"), line.at("expected_ms"), line.at("binomial_ms"), line.at("bytes"), {}};
    const Rank root = line.at("root");
    const auto parents = line.at("parents").get<std::vector<int>>();
    used.tree = tree_of(report.ranks, root, parents);
    report.trees.push_back(std::move(used));
  }
  return report;
}

}  // namespace piracema::tools
