#include "tools/top/ckpt_screen.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/text.h"

namespace piracema::tools {

namespace {

// More are on the page, and in the JSON.
constexpr std::size_t past_shown_max = 10;
constexpr double keeper_silent_for = 30, daemon_silent_for = 10;

std::string in(double seconds) { return seconds <= 0 ? "now" : "in " + human_seconds(seconds); }
std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

void put_silence(TerminalPage& page, const JsonView& one, const char* who, double after) {
  const double ago = one.number("seen_ago");
  if (ago > after) {
    page.line(concat(who, " has shown nothing for ", human_seconds(ago)), Paint::bad);
  }
}

void put_job_head(TerminalPage& page, const JsonView& one) {
  const std::string command = one.words("command");
  const bool paused = one.flag("paused");
  std::string line = concat(file_name(command.substr(0, command.find(' '))), "  ",
                            paused ? "stands still" : one.text("state"), "  ",
                            human_seconds(one.number("state_for")));
  if (one.number("processes") > 0) {
    line += concat("  ", one.count("processes"), " processes, ",
                   short_bytes(one.number("resident_bytes")), " of memory");
  }
  page.line(line, Paint::strong);
  page.line(command, Paint::soft);
  put_silence(page, one, "the keeper", keeper_silent_for);
  if (!one.text("trouble").empty()) {
    page.line(one.text("trouble"), paused ? Paint::bad : Paint::warn);
  }
}

void put_plan(TerminalPage& page, const JsonView& one) {
  if (const JsonView window = one["window"]; window.has("opens_in")) {
    page.line(concat("the window opens ", in(window.number("opens_in"))));
  } else if (window.has("closes_in")) {
    const std::string why = window.text("closes_why");
    page.line(concat("the window closes ", in(window.number("closes_in")),
                     why.empty() ? "" : concat(" (", why, ")")));
  }
  std::string next = "when asked";
  const bool saves = one.has("save_in"), stops = one.has("stop_in");
  if (saves && (!stops || one.number("save_in") <= one.number("stop_in"))) {
    next = in(one.number("save_in"));
  } else if (stops) {
    next = in(one.number("stop_in")) + ", and the job stops with it";
  }
  if (const JsonView forecast = one["forecast"]; one.has("forecast")) {
    next += concat("; it would take ", short_seconds(forecast.number("p50")), ", p95 ",
                   short_seconds(forecast.number("p95")));
  }
  page.line("next checkpoint " + next);
}

void put_counts(TerminalPage& page, const JsonView& one) {
  const JsonView checkpoints = one["checkpoints"], launches = one["launches"];
  page.line(concat("checkpoints: ", checkpoints.count("saved"), " saved, ",
                   checkpoints.count("failed"), " failed, ", checkpoints.count("given_up"),
                   " given up; launches: ", launches.count("launched"), ", ",
                   launches.count("failed"), " failed"));
  if (!one.has("store")) return;
  const JsonView store = one["store"];
  double bytes = 0;
  const auto images = store.list("images");
  for (const JsonView& image : images) bytes += image.number("bytes");
  page.line(concat("images: ", images.size(), ", ", human_bytes(bytes), " in ",
                   one.text("directory"), "; room ", human_bytes(store.number("free_bytes")),
                   " of ", human_bytes(store.number("size_bytes"))));
}

void put_checkpoints(TerminalPage& page, const JsonView& one) {
  TerminalPage::Rows rows = {
      {"BEGUN", "TOOK", "FORECAST", "P95", "FROZEN", "IMAGE", "SIZE", "OUTCOME"}};
  const auto past = one["checkpoints"].list("past");
  for (std::size_t i = 0; i < std::min(past.size(), past_shown_max); ++i) {
    const JsonView& each = past[i];
    std::string outcome = each.text("outcome");
    std::replace(outcome.begin(), outcome.end(), '_', ' ');
    if (each.flag("stops")) outcome += ", to stop";
    if (each.number("tries") > 1) outcome += concat(", ", each.count("tries"), " tries");
    if (!each.text("why").empty()) outcome += ": " + each.text("why");
    rows.push_back({human_seconds(each.number("ago")) + " ago", known_seconds(each, "took"),
                    known_seconds(each, "forecast_p50"), known_seconds(each, "forecast_p95"),
                    known_seconds(each, "frozen"), each.has("image") ? each.count("image") : "-",
                    short_bytes(each.number("bytes")), outcome});
  }
  page.table(rows, 0, true);
}

void put_troubles(TerminalPage& page, const JsonView& one) {
  const auto troubles = one.list("troubles");
  if (troubles.empty()) return;
  page.head("WHAT WENT WRONG");
  for (std::size_t i = 0; i < std::min(troubles.size(), past_shown_max); ++i) {
    page.line(troubles[i].text("text"), Paint::bad);
  }
}

std::string when_of(const JsonView& job) {
  if (job.text("state") != "waiting") {
    return concat("for ", human_seconds(job.number("runs_for")),
                  job.has("gone_in") ? ", gone " + in(job.number("gone_in")) : "");
  }
  if (job.flag("left_this_window")) return "in the next window";
  return job.number("not_before_in") > 0 ? "tried again " + in(job.number("not_before_in")) : "-";
}

void put_queue_head(TerminalPage& page, const JsonView& one) {
  page.line(concat("queue on ", one.text("host"), "  ",
                   one.flag("ends")   ? "ends"
                   : one.flag("lent") ? "lent"
                                      : "not lent",
                   "  ", one.count("running"), " of ", one.count("slots"), " running, ",
                   one.count("waiting"), " waiting"),
            Paint::strong);
  put_silence(page, one, "the daemon", daemon_silent_for);
  if (one.flag("lent")) {
    page.line(one.has("closes_in") ? "the window closes " + in(one.number("closes_in"))
                                   : "lent until its user is back");
  } else if (one.flag("user_present")) {
    page.line("its user is there");
  } else if (one.number("idle_in") > 0) {
    page.line("idle " + in(one.number("idle_in")));
  }
  const JsonView outcomes = one["outcomes"];
  page.line(concat(one.count("started"), " starts: ", outcomes.count("ended"), " ended, ",
                   outcomes.count("stopped"), " saved, ", outcomes.count("died"), " died, ",
                   outcomes.count("failed"), " failed, ", one.count("killed"), " killed"));
}

}  // namespace

void put_ckpt_job(TerminalPage& page, const JsonView& all) {
  const JsonView one = all["job"];
  put_job_head(page, one);
  put_plan(page, one);
  put_counts(page, one);
  put_checkpoints(page, one);
  put_troubles(page, one);
}

void put_ckpt_queue(TerminalPage& page, const JsonView& all) {
  const JsonView one = all["queue"];
  put_queue_head(page, one);
  TerminalPage::Rows jobs = {{"JOB", "STATE", "WHEN", "COMMAND"}};
  for (const JsonView& job : one.list("jobs")) {
    jobs.push_back({job.text("job"), job.text("state"), when_of(job), job.words("command")});
  }
  page.table(jobs, 4, true);
  TerminalPage::Rows gone = {{"LEFT", "RAN", "TOOK", "OF", "OUTCOME"}};
  const auto left = one.list("left");
  for (std::size_t i = 0; i < std::min(left.size(), past_shown_max); ++i) {
    const JsonView& each = left[i];
    gone.push_back({each.text("job"), known_seconds(each, "ran"), known_seconds(each, "took"),
                    known_seconds(each, "given"), each.text("outcome")});
  }
  page.table(gone, 1, true);
}

}  // namespace piracema::tools
