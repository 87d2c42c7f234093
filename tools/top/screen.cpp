#include "tools/top/screen.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "tools/terminal_text.h"

namespace piracema::tools {

namespace {

using Json = nlohmann::json;

const Json nothing;

const Json& at(const Json& value, const char* name) {
  if (!value.is_object()) return nothing;
  const auto found = value.find(name);
  return found == value.end() ? nothing : *found;
}
double number(const Json& value, const char* name) {
  const Json& one = at(value, name);
  const double found = one.is_number() ? one.get<double>() : 0;
  return std::isfinite(found) ? found : 0;
}
std::string text(const Json& value, const char* name) {
  const Json& one = at(value, name);
  return terminal_text(one.is_string() ? one.get<std::string>() : "");
}

std::string rate(double value) {
  static constexpr std::array<const char*, 4> units = {"", " k", " M", " G"};
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= 1'000;
    unit += 1;
  }
  char out[32];
  std::snprintf(out, sizeof out, "%.*f%s",
                unit == 0 || value >= 100 ? 0
                : value >= 10             ? 1
                                          : 2,
                value, units[unit]);
  return out;
}
std::string percent(double part) {
  return concat(std::lround(100 * std::clamp(part, 0.0, 1.0)), " %");
}
std::string bytes(double count) { return count <= 0 ? "-" : human_bytes(count); }

std::size_t width_of(std::string_view line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string cut(const std::string& line, std::size_t columns) {
  if (columns == 0 || width_of(line) <= columns) return line;
  std::size_t shown = 0, end = 0;
  while (end < line.size()) {
    const bool begins = (static_cast<unsigned char>(line[end]) & 0xc0) != 0x80;
    if (begins && shown == columns) break;
    shown += begins ? 1 : 0;
    end += 1;
  }
  return line.substr(0, end);
}

enum class Paint { none, strong, good, bad, warn, soft };

/// Lines that are cut first and coloured then, so that no colour is cut.
class Page {
 public:
  explicit Page(const ScreenOptions& options) : options_(options) {}

  void line(const std::string& words, Paint paint = Paint::none) {
    if (options_.lines != 0 && count_ == options_.lines) return;
    count_ += 1;
    static constexpr std::array<const char*, 6> codes = {"", "1", "32", "31", "33", "2"};
    const std::string shown = cut(words, options_.columns);
    if (options_.color && paint != Paint::none) {
      out_ += concat("\x1b[", codes[static_cast<std::size_t>(paint)], "m", shown, "\x1b[0m\n");
    } else {
      out_ += shown + "\n";
    }
  }
  /// Columns as wide as they have to be; those from `right` on to the right, but for the last one
  /// if it is of words.
  void table(const std::vector<std::vector<std::string>>& rows, std::size_t right,
             bool last_is_words) {
    std::vector<std::size_t> widths(rows.front().size());
    for (const auto& row : rows) {
      for (std::size_t i = 0; i < row.size(); ++i)
        widths[i] = std::max(widths[i], width_of(row[i]));
    }
    for (const auto& row : rows) {
      std::string words;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const std::string pad(widths[i] - width_of(row[i]), ' ');
        const bool last = i + 1 == row.size();
        const bool is_right = i >= right && !(last && last_is_words);
        words += (i == 0 ? "" : "  ") + (is_right ? pad + row[i] : row[i] + (last ? "" : pad));
      }
      line(words, &row == &rows.front() ? Paint::soft : Paint::none);
    }
  }
  std::string done() { return std::move(out_); }

 private:
  const ScreenOptions options_;
  std::string out_;
  std::size_t count_ = 0;
};

std::string bar(double busy, double blocked) {
  constexpr int width = 12;
  const int b = static_cast<int>(std::lround(width * std::clamp(busy, 0.0, 1.0)));
  const int w =
      std::min(width - b, static_cast<int>(std::lround(width * std::clamp(blocked, 0.0, 1.0))));
  return std::string(static_cast<std::size_t>(b), '#') +
         std::string(static_cast<std::size_t>(w), '=') +
         std::string(static_cast<std::size_t>(width - b - w), '.');
}

void put_head(Page& page, const Json& job) {
  const bool over = at(job, "over").is_boolean() && at(job, "over").get<bool>();
  const double code = number(job, "code");
  const std::string phase =
      over ? (code == 0 ? "done" : concat("ended with code ", std::lround(code)))
           : text(job, "phase");
  page.line(concat(text(job, "program"), "  ", phase, "  ", human_seconds(number(job, "at")),
                   "  epoch ", std::lround(number(job, "epoch")), "  ",
                   std::lround(number(job, "workers")), " processes"),
            Paint::strong);
  std::string line = concat(rate(number(job, "items_in_per_second")), "/s from the sources, ",
                            rate(number(job, "items_out_per_second")), "/s into the sinks, ",
                            rate(number(job, "items")), " items");
  if (at(job, "read").is_number()) line = concat(percent(number(job, "read")), " read, ", line);
  page.line(line);
  const Json& snapshots = at(job, "snapshots");
  if (const Json& last = at(snapshots, "last"); last.is_object()) {
    page.line(concat("snapshot ", std::lround(number(last, "snapshot")), ": ",
                     bytes(number(last, "bytes")), " in ", human_seconds(number(last, "took")),
                     ", ", human_seconds(std::max(0.0, number(job, "at") - number(last, "at"))),
                     " ago; ", std::lround(number(snapshots, "failed")), " failed"));
  }
  if (const std::string words = text(job, "bottleneck"); !words.empty()) {
    page.line("bottleneck: " + words, Paint::warn);
  }
  if (over && !text(job, "why").empty()) page.line(text(job, "why"), Paint::bad);
}

void put_nodes(Page& page, const Json& graph) {
  if (!at(graph, "nodes").is_array() || at(graph, "nodes").empty()) return;
  std::vector<std::vector<std::string>> rows = {
      {"NODE", "TIME", "REPLICAS", "BUSY", "BLOCKED", "IN/S", "OUT/S", "QUEUED", "LAG", "STATE"}};
  for (const Json& node : at(graph, "nodes")) {
    const double busy = number(node, "busy_share"), blocked = number(node, "blocked_share");
    rows.push_back(
        {text(node, "name"), bar(busy, blocked), concat(std::lround(number(node, "replicas"))),
         percent(busy), percent(blocked), rate(number(node, "items_in_per_second")),
         rate(number(node, "items_out_per_second")), concat(std::lround(number(node, "queued"))),
         at(node, "lag").is_number() ? human_seconds(number(node, "lag")) : "-",
         bytes(number(node, "state_bytes"))});
  }
  page.line("");
  page.table(rows, 2, false);
}

void put_workers(Page& page, const Json& hosts) {
  std::vector<std::vector<std::string>> rows = {
      {"WORKER", "HOST", "STATE", "PID", "REPLACED", "CPU", "REPLICAS"}};
  if (!at(hosts, "hosts").is_array()) return;
  for (const Json& host : at(hosts, "hosts")) {
    if (!at(host, "workers").is_array()) continue;
    const std::string state = text(host, "state");
    if (at(host, "workers").empty() && !state.empty()) {
      rows.push_back({"-", text(host, "name"), "host " + state, "-", "-", "-", ""});
    }
    const std::string name =
        concat(text(host, "name"), state.empty() || state == "here" ? "" : " (" + state + ")");
    for (const Json& worker : at(host, "workers")) {
      const bool joined = at(worker, "joined").is_boolean() && at(worker, "joined").get<bool>();
      rows.push_back({concat(std::lround(number(worker, "worker"))), name,
                      joined ? "in the job" : "missing", concat(std::lround(number(worker, "pid"))),
                      concat(std::lround(number(worker, "incarnation"))),
                      human_seconds(number(worker, "cpu")), text(worker, "replicas")});
    }
  }
  if (rows.size() == 1) return;
  page.line("");
  page.table(rows, 3, true);
}

void put_failures(Page& page, const Json& failures) {
  const Json& list = at(failures, "failures");
  if (!list.is_array() || list.empty()) return;
  page.line("");
  page.line("FAILURES", Paint::soft);
  constexpr std::size_t shown_max = 5;
  for (std::size_t i = list.size() - std::min(list.size(), shown_max); i < list.size(); ++i) {
    const Json& one = list[i];
    const Json& losses = at(one, "losses");
    const Json& loss = losses.is_array() && !losses.empty() ? losses.front() : nothing;
    const std::string after =
        at(one, "running_after").is_number()
            ? concat("running again after ", human_seconds(number(one, "running_after")), ", ",
                     std::lround(number(one, "items_redone")), " items redone")
            : "not running again yet";
    page.line(concat("at ", human_seconds(number(one, "noticed_at")), ": ", text(loss, "who"), " (",
                     text(loss, "replicas"), "): ", text(loss, "how"), "; ", after),
              Paint::bad);
  }
}

}  // namespace

std::string screen_of(const Json& all, const ScreenOptions& options) {
  Page page(options);
  put_head(page, at(all, "job"));
  put_nodes(page, at(all, "graph"));
  put_workers(page, at(all, "hosts"));
  put_failures(page, at(all, "failures"));
  return page.done();
}

}  // namespace piracema::tools
