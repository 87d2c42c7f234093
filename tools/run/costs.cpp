#include "tools/run/costs.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace piracema::tools {

Result<flow::EarlierRun> read_costs(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return Error{Errc::config, with_errno(concat("--costs ", file))};
  const auto wrong = [&file](const std::string& found) {
    return Error{
        Errc::config,
        concat("--costs ", file, ": want the statistics of a run (--stats), ", "found ", found)};
  };
  const auto stats = nlohmann::json::parse(in, nullptr, false);
  if (!stats.is_object() || !stats.contains("nodes") || !stats["nodes"].is_array()) {
    return wrong("something else");
  }
  flow::EarlierRun earlier;
  double all = 0;
  for (const auto& node : stats["nodes"]) {
    const auto text = [&](const char* name) { return node.is_object() && node.contains(name); };
    if (!text("name") || !node["name"].is_string() || !text("busy") || !node["busy"].is_number()) {
      return wrong("a node without name or time");
    }
    const double seconds = node["busy"].get<double>();
    if (!std::isfinite(seconds) || seconds < 0) return wrong("a time below 0");
    const std::string name = node["name"].get<std::string>();
    earlier.busy[name] = seconds;
    all += seconds;
    if (!text("bytes_out")) continue;
    if (!node["bytes_out"].is_number_unsigned()) return wrong("bytes that are no number");
    earlier.sent[name] = node["bytes_out"].get<double>();
  }
  // Times may have been written by hand.
  if (earlier.sent.size() != earlier.busy.size()) earlier.sent.clear();
  if (all == 0) return wrong("no node that had anything to do");
  return earlier;
}

}  // namespace piracema::tools
