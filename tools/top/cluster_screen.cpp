#include "tools/top/cluster_screen.h"

#include "base/text.h"

namespace piracema::tools {

namespace {

constexpr std::size_t events_shown = 5;

std::string since(const JsonView& one, const char* name) {
  return one.has(name) ? human_seconds(one.number(name) / 1e3) : "-";
}

/// What a stream that runs does; else what the job waits for, or why nobody knows what it does.
std::string doing(const JsonView& job) {
  const JsonView stream = job["stream"];
  if (!stream.flag("known")) return job.has("why") ? job.text("why") : stream.text("why");
  return concat(short_number(stream.number("items_in_per_second")), "/s in, ",
                short_number(stream.number("items_out_per_second")), "/s out, ",
                stream.count("queued"), " wait", stream.text("bottleneck").empty() ? "" : "; ",
                stream.text("bottleneck"));
}

void put_replicas(TerminalPage& page, const JsonView& cluster) {
  const bool goes_on = cluster.flag("goes_on");
  page.line(concat("cluster  ", goes_on ? "goes on" : "does not go on", "  ", cluster.count("here"),
                   " of ", cluster.list("replicas").size(), " replicas of the control plane here"),
            goes_on ? Paint::strong : Paint::bad);
  for (const JsonView& replica : cluster.list("replicas")) {
    if (replica.flag("leads")) page.line(concat(replica.text("address"), " leads"));
    const std::string trouble = replica.text("trouble");
    if (!trouble.empty()) page.line(concat(replica.text("address"), ": ", trouble), Paint::warn);
  }
  if (cluster.has("trouble")) page.line(cluster.text("trouble"), Paint::bad);
}

}  // namespace

void put_cluster(TerminalPage& page, const JsonView& all) {
  const JsonView cluster = all["cluster"];
  put_replicas(page, cluster);
  TerminalPage::Rows nodes = {{"NODE", "SLOTS", "USED", "HEARD AGO", "STATE"}};
  for (const JsonView& node : cluster.list("nodes")) {
    const std::string lent = node.text("lent");
    nodes.push_back({node.text("node"), node.count("slots"), node.count("used"),
                     since(node, "heard_ago_ms"),
                     concat(node.text("state"), lent.empty() ? "" : ", ", lent)});
  }
  page.table(nodes, 1, true);
  TerminalPage::Rows rows = {{"JOB", "STATE", "NODE", "USER", "NAME", "DOES"}};
  for (const JsonView& job : cluster.list("jobs")) {
    const std::string state = job.text("state");
    if (state == "done" || state == "failed" || state == "cancelled") continue;
    const std::size_t others = job.list("others").size();
    rows.push_back({job.count("job"), state,
                    !job.has("node") ? "-"
                    : others == 0    ? job.text("node")
                                     : concat(job.text("node"), " +", others),
                    job.text("user"), job.text("name"), doing(job)});
  }
  page.table(rows, 6, true);
  const auto events = cluster.list("events");
  if (events.empty()) return;
  page.head("what has happened");
  const std::size_t from = events.size() > events_shown ? events.size() - events_shown : 0;
  for (std::size_t i = from; i < events.size(); ++i) {
    page.line(concat(since(events[i], "ago_ms"), " ago: ", events[i].text("text")));
  }
}

}  // namespace piracema::tools
