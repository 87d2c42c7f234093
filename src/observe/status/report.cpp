#include "observe/status/report.h"

#include "base/text.h"

namespace piracema::cluster {

std::vector<std::string> late_items(const JobReport& report) {
  std::vector<std::string> texts;
  for (const NodeReport& node : report.nodes) {
    if (node.items_late == 0) continue;
    texts.push_back(concat(node.name, ": ", node.items_late,
                           node.items_late == 1 ? " item was" : " items were",
                           " late for event time"));
  }
  return texts;
}

}  // namespace piracema::cluster
