#include "tools/top/stream_screen.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <string>

#include "base/text.h"

namespace piracema::tools {

namespace {

std::string bar(double busy, double blocked) {
  constexpr int width = 12;
  const int b = static_cast<int>(std::lround(width * std::clamp(busy, 0.0, 1.0)));
  const int w =
      std::min(width - b, static_cast<int>(std::lround(width * std::clamp(blocked, 0.0, 1.0))));
  return std::string(static_cast<std::size_t>(b), '#') +
         std::string(static_cast<std::size_t>(w), '=') +
         std::string(static_cast<std::size_t>(width - b - w), '.');
}

void put_stream_head(TerminalPage& page, const JsonView& job) {
  const bool over = job.flag("over");
  const std::string phase =
      over ? (job.number("code") == 0 ? "done" : concat("ended with code ", job.count("code")))
           : job.text("phase");
  page.line(concat(job.text("program"), "  ", phase, "  ", human_seconds(job.number("at")),
                   "  epoch ", job.count("epoch"), "  ", job.count("workers"), " processes"),
            Paint::strong);
  std::string line =
      concat(short_number(job.number("items_in_per_second")), "/s from the sources, ",
             short_number(job.number("items_out_per_second")), "/s into the sinks, ",
             short_number(job.number("items")), " items");
  if (job.has("read")) line = concat(short_share(job.number("read")), " read, ", line);
  page.line(line);
  const JsonView snapshots = job["snapshots"];
  if (snapshots.has("last")) {
    const JsonView last = snapshots["last"];
    page.line(concat("snapshot ", last.count("snapshot"), ": ", short_bytes(last.number("bytes")),
                     " in ", human_seconds(last.number("took")), ", ",
                     human_seconds(std::max(0.0, job.number("at") - last.number("at"))), " ago; ",
                     snapshots.count("failed"), " failed"));
  }
  if (const std::string words = job.text("bottleneck"); !words.empty()) {
    page.line("bottleneck: " + words, Paint::warn);
  }
  if (over && !job.text("why").empty()) page.line(job.text("why"), Paint::bad);
}

// In UTC.
std::string event_time(const JsonView& node) {
  if (!node.has("event_time_unix")) return "-";
  const auto seconds = static_cast<std::time_t>(std::floor(node.number("event_time_unix")));
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts)};
}

void put_nodes(TerminalPage& page, const JsonView& graph) {
  TerminalPage::Rows rows = {
      {"NODE", "TIME", "REPLICAS", "BUSY", "BLOCKED", "IN/S", "OUT/S", "QUEUED", "LAG", "STATE"}};
  const auto nodes = graph.list("nodes");
  const bool timed = std::any_of(nodes.begin(), nodes.end(),
                                 [](const JsonView& node) { return node.has("event_time_unix"); });
  if (timed) rows[0].insert(rows[0].end(), {"EVENT TIME", "LATE"});
  for (const JsonView& node : nodes) {
    const double busy = node.number("busy_share"), blocked = node.number("blocked_share");
    rows.push_back({node.text("name"), bar(busy, blocked), node.count("replicas"),
                    short_share(busy), short_share(blocked),
                    short_number(node.number("items_in_per_second")),
                    short_number(node.number("items_out_per_second")), node.count("queued"),
                    node.has("lag") ? human_seconds(node.number("lag")) : "-",
                    short_bytes(node.number("state_bytes"))});
    if (timed) {
      rows.back().insert(rows.back().end(), {event_time(node), node.count("items_late")});
    }
  }
  page.table(rows, 2, false);
}

void put_workers(TerminalPage& page, const JsonView& hosts) {
  TerminalPage::Rows rows = {{"WORKER", "HOST", "STATE", "PID", "REPLACED", "CPU", "REPLICAS"}};
  for (const JsonView& host : hosts.list("hosts")) {
    const std::string state = host.text("state");
    const auto workers = host.list("workers");
    if (workers.empty() && !state.empty()) {
      rows.push_back({"-", host.text("name"), "host " + state, "-", "-", "-", ""});
    }
    const std::string name =
        concat(host.text("name"), state.empty() || state == "here" ? "" : " (" + state + ")");
    for (const JsonView& worker : workers) {
      rows.push_back({worker.count("worker"), name,
                      worker.flag("joined") ? "in the job" : "missing", worker.count("pid"),
                      worker.count("incarnation"), human_seconds(worker.number("cpu")),
                      worker.text("replicas")});
    }
  }
  page.table(rows, 3, true);
}

void put_failures(TerminalPage& page, const JsonView& failures) {
  const auto list = failures.list("failures");
  if (list.empty()) return;
  page.head("FAILURES");
  constexpr std::size_t shown_max = 5;
  for (std::size_t i = list.size() - std::min(list.size(), shown_max); i < list.size(); ++i) {
    const JsonView& one = list[i];
    const auto losses = one.list("losses");
    const JsonView loss = losses.empty() ? one["losses"] : losses.front();
    const std::string after =
        one.has("running_after")
            ? concat("running again after ", human_seconds(one.number("running_after")), ", ",
                     one.count("items_redone"), " items redone")
            : "not running again yet";
    page.line(concat("at ", human_seconds(one.number("noticed_at")), ": ", loss.text("who"), " (",
                     loss.text("replicas"), "): ", loss.text("how"), "; ", after),
              Paint::bad);
  }
}

}  // namespace

void put_stream(TerminalPage& page, const JsonView& all) {
  put_stream_head(page, all["job"]);
  put_nodes(page, all["graph"]);
  put_workers(page, all["hosts"]);
  put_failures(page, all["failures"]);
}

}  // namespace piracema::tools
