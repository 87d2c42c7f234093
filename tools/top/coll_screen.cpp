#include "tools/top/coll_screen.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace piracema::tools {

namespace {

// More are on the page, and in the JSON.
constexpr std::size_t ranks_shown_max = 30;

std::string known_rate(const JsonView& one, const char* name) {
  return one.has(name) ? short_bytes(one.number(name)) + "/s" : "-";
}
/// Classes of sizes end at powers of two.
std::string up_to(const JsonView& row) {
  if (!row.has("bytes_max")) return "more";
  const double kib = row.number("bytes_max") / 1'024;
  return kib < 1'024 ? concat(std::lround(kib), " KiB") : concat(std::lround(kib / 1'024), " MiB");
}
std::string of_calls(double took, double calls) {
  return calls > 0 ? short_seconds(took / calls) : "-";
}
std::string signed_seconds(double seconds) {
  return (seconds < 0 ? "-" : "") + short_seconds(std::abs(seconds));
}

void put_mpi_head(TerminalPage& page, const JsonView& one) {
  const JsonView job = one["job"];
  const std::string command = one.words("command");
  const std::string program = command.substr(0, command.find(' '));
  const bool silent = !one.flag("ready") && one.text("state") == "running";
  const auto hosts = job.list("hosts").size();
  std::string line = concat(program.substr(program.rfind('/') + 1), "  ",
                            silent ? "silent" : one.text("state"), "  ");
  if (one.has("job")) {
    line += concat(human_seconds(job.number("ran")), "  engine ", job.text("engine"), "  ",
                   job.count("ranks"), " ranks", hosts > 0 ? concat(" on ", hosts, " hosts") : "");
  }
  page.line(line, Paint::strong);
  page.line(command, Paint::soft);
  if (!one.text("trouble").empty()) {
    page.line(one.text("trouble"), silent ? Paint::bad : Paint::warn);
  }
}

void put_gained(TerminalPage& page, const JsonView& job) {
  const auto rows = job["calls"].list("by_class");
  const bool both =
      std::any_of(rows.begin(), rows.end(), [](const JsonView& row) { return row.has("gained"); });
  const double gained = job.number("gained");
  if (!both) {
    page.line(rows.empty() ? "gained: nothing is known yet" : "gained: only one way was tried");
  } else if (gained < 0) {
    page.line(concat("lost ", short_seconds(-gained), ": trees take longer than native calls"),
              Paint::bad);
  } else {
    page.line(concat("gained ", short_seconds(gained), " against native calls, as measured"),
              Paint::good);
  }
}

void put_calls(TerminalPage& page, const JsonView& job) {
  const JsonView calls = job["calls"];
  page.line(concat(calls.count("of_rank_0"), " calls of rank 0, ", calls.count("ours"),
                   " along trees; ", job.count("pairs_measured"), " of ", job.count("pairs"),
                   " links measured"));
  put_gained(page, job);
  TerminalPage::Rows rows = {{"CALL", "UP TO", "OURS", "EACH", "NATIVE", "EACH", "GAINED", "NOW"}};
  for (const JsonView& row : calls.list("by_class")) {
    rows.push_back({row.text("call"), up_to(row), row.count("ours"),
                    of_calls(row.number("ours_took"), row.number("ours")), row.count("native"),
                    of_calls(row.number("native_took"), row.number("native")),
                    row.has("gained") ? signed_seconds(row.number("gained")) : "-",
                    row.text("go")});
  }
  page.table(rows, 1, true);
}

void put_links(TerminalPage& page, const JsonView& job) {
  TerminalPage::Rows rows = {{"TO RANK", "LATENCY", "OFF BY", "RATE TO", "RATE FROM", "MEASURED"}};
  const auto links = job.list("links");
  for (std::size_t i = 0; i < std::min(links.size(), ranks_shown_max); ++i) {
    const JsonView& link = links[i];
    rows.push_back({link.count("rank"), known_seconds(link, "latency"),
                    known_seconds(link, "error"), known_rate(link, "rate_to"),
                    known_rate(link, "rate_from"),
                    link.has("age") ? known_seconds(link, "age") + " ago" : "not yet"});
  }
  page.table(rows, 0, false);
  if (links.size() > ranks_shown_max)
    page.line(concat("and ", links.size() - ranks_shown_max, " more"));
}

/// Each rank below its parent, and further in.
void put_tree(TerminalPage& page, const JsonView& tree, const std::string& words) {
  const auto parents = tree.list("parents"), latencies = tree.list("latencies");
  std::vector<std::vector<std::size_t>> children(parents.size());
  std::vector<std::pair<std::size_t, std::size_t>> next;
  for (std::size_t rank = parents.size(); rank-- > 0;) {
    const double parent = parents[rank].number().value_or(-1);
    if (parent < 0) {
      next.emplace_back(rank, 0);
    } else if (parent < static_cast<double>(parents.size())) {
      children[static_cast<std::size_t>(parent)].push_back(rank);
    }
  }
  page.head(words);
  // Who is its own ancestor is never come to.
  for (std::size_t shown = 0; !next.empty(); ++shown) {
    if (shown == ranks_shown_max) return page.line("...");
    const auto [rank, depth] = next.back();
    next.pop_back();
    const auto latency = rank < latencies.size() ? latencies[rank].number() : std::nullopt;
    page.line(concat(std::string(2 * std::min<std::size_t>(depth, 40), ' '), rank,
                     latency ? "  " + short_seconds(*latency) : ""));
    for (const std::size_t child : children[rank]) next.emplace_back(child, depth + 1);
  }
}

void put_newest_tree(TerminalPage& page, const JsonView& job) {
  const JsonView mst = job["mst"];
  if (mst.has("parents")) {
    put_tree(page, mst, concat("THE DISTRIBUTED TREE, ", mst.count("rounds"), " ROUNDS OVER"));
    return;
  }
  const auto trees = job.list("trees");
  if (trees.empty()) return;
  const JsonView& newest = trees.front();
  put_tree(page, newest,
           concat("BROADCASTS OF RANK 0, ", short_bytes(newest.number("bytes")), ": ",
                  short_seconds(newest.number("expected")), " expected, ",
                  short_seconds(newest.number("binomial")), " along a binomial tree"));
}

}  // namespace

void put_coll_job(TerminalPage& page, const JsonView& all) {
  const JsonView one = all["job"], job = one["job"];
  put_mpi_head(page, one);
  if (!one.has("job")) return;
  put_calls(page, job);
  put_links(page, job);
  put_newest_tree(page, job);
  const auto remarks = job.texts("remarks");
  if (!remarks.empty()) page.head("REMARKS");
  for (const std::string& remark : remarks) page.line(remark);
}

}  // namespace piracema::tools
