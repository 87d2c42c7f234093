#include "tools/run/display.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <string_view>
#include <variant>

#include "base/hint.h"
#include "base/log.h"
#include "base/text.h"
#include "cluster/driver/program_check.h"
#include "host/own_host.h"
#include "tools/run/report_json.h"

namespace piracema::tools {

namespace {

using namespace cluster;

constexpr Time recent_for = std::chrono::seconds(3);
constexpr Time line_every = std::chrono::seconds(5);

bool is_terminal() {
  const char* type = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && type != nullptr && std::string_view(type) != "dumb";
}

// A line that wraps could not be drawn again in its place.
std::string fit_to_terminal(std::string line) {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 &&
      line.size() >= size.ws_col) {
    line.resize(size.ws_col - 1u);
  }
  return line;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string percent(double part) { return concat(std::lround(part * 100), " %"); }

/// What there is to say about a note, and how loud.
struct Teller {
  std::pair<Level, std::string> operator()(const Lost& note) const {
    return {Level::warning,
            concat("worker ", note.slot, " (", note.replicas, ") is lost: ", note.how)};
  }
  std::pair<Level, std::string> operator()(const ReplicaFailed& note) const {
    return {Level::warning,
            concat(note.name, " failed", note.item ? concat(" at item ", *note.item) : "", ": ",
                   note.why)};
  }
  std::pair<Level, std::string> operator()(const Recovering& note) const {
    return {Level::info, concat("recovering: back to ",
                                note.restore ? concat("snapshot ", *note.restore) : "the beginning",
                                ", ", note.redone, " items to be redone")};
  }
  std::pair<Level, std::string> operator()(const Running& note) const {
    if (note.epoch == 1) return {Level::debug, "running"};
    return {Level::info, "running again"};
  }
  std::pair<Level, std::string> operator()(const FirstItemOut& note) const {
    if (note.epoch == 1) return {Level::debug, "the first item is out"};
    return {Level::info, "the first item since then is out"};
  }
  std::pair<Level, std::string> operator()(const SnapshotTaken& note) const {
    const auto human = [](std::uint64_t bytes) { return human_bytes(static_cast<double>(bytes)); };
    return {
        Level::debug,
        concat("snapshot ", note.snapshot, " of ", human(note.bytes),
               note.under_way != 0 ? concat(", ", human(note.under_way), " of it under way,") : "",
               " took ", human_seconds(seconds(note.took)))};
  }
  std::pair<Level, std::string> operator()(const SnapshotAborted& note) const {
    return {Level::warning,
            concat("snapshot ", note.snapshot, " failed, the job goes on: ", note.why)};
  }
  std::pair<Level, std::string> operator()(const ItemSkipped& note) const {
    return {Level::warning, concat("item ", note.item, " is passed by, see the dead letters")};
  }
  std::pair<Level, std::string> operator()(const Reattached&) const {
    return {Level::info, "found all workers again: nothing is redone"};
  }
  std::pair<Level, std::string> operator()(const ScaleStarted& note) const {
    return {Level::info, concat("scaling: ", note.change)};
  }
  std::pair<Level, std::string> operator()(const ScaleSwitched& note) const {
    return {Level::debug, concat("all go on from snapshot ", note.snapshot, " by the next plan")};
  }
  std::pair<Level, std::string> operator()(const ScaleEnded& note) const {
    if (!note.done) {
      return {Level::warning, concat("not scaled, the job goes on as it was: ", note.why)};
    }
    return {Level::info, concat("scaled (", note.change, ") in ", human_seconds(seconds(note.took)),
                                ", sources paused for ", human_seconds(seconds(note.paused)))};
  }
  std::pair<Level, std::string> operator()(const ProcessesMoved& note) const {
    std::string workers;
    for (const Slot slot : note.slots) workers += concat(workers.empty() ? "" : ", ", slot);
    return {Level::info,
            concat(note.slots.size() == 1 ? "worker " : "workers ", workers, " moved at snapshot ",
                   note.snapshot, ", sources paused for ", human_seconds(seconds(note.paused)))};
  }
  std::pair<Level, std::string> operator()(const SavepointBegun& note) const {
    return {Level::debug, concat("taking savepoint '", note.name, "'")};
  }
  std::pair<Level, std::string> operator()(const SavepointEnded& note) const {
    if (!note.snapshot) {
      return {Level::warning,
              concat("no savepoint '", note.name, "', the job goes on: ", note.why)};
    }
    return {Level::info, concat("savepoint '", note.name, "' is snapshot ", *note.snapshot, ", in ",
                                human_seconds(seconds(note.took)))};
  }
  std::pair<Level, std::string> operator()(const BroadcastRouted& note) const {
    return {Level::info, concat("what worker ", note.from, " sends to all of ", note.node,
                                " goes by another tree: ", note.tree)};
  }
  std::pair<Level, std::string> operator()(const ReplicaBusy& note) const {
    return {Level::warning, cluster::text_of(note)};
  }
};

}  // namespace

Display::Display(const JobOptions& options, bool quiet)
    : options_(options),
      name_(base_name(options.command.front())),
      quiet_(quiet),
      terminal_(is_terminal()) {}

Display::~Display() { set_status_line(""); }

void Display::standing_by(const std::string& why) {
  // It is what was asked for: there is nothing to do about it.
  if (!quiet_) log(Level::info, concat("standing by: ", split_hint(why).message));
}

void Display::leads(std::uint32_t number, std::uint32_t of, bool taken_over) {
  if (quiet_) return;
  log(Level::info,
      concat("coordinator ", number, " of ", of, " (process ", ::getpid(), " on ",
             cluster::own_host(), taken_over ? ") goes on with the job" : ") coordinates the job"));
}

void Display::follows(std::uint32_t number, std::uint32_t of) {
  set_status_line("");
  if (quiet_) return;
  log(Level::info, concat("coordinator ", number, " of ", of, " (process ", ::getpid(), " on ",
                          cluster::own_host(), ") coordinates no longer, and looks on"));
}

void Display::planned(const Job& job, const JobReport&) {
  if (quiet_) return;
  log(Level::info, concat("graph: ", outline(job.graph)));
  for (Slot slot = 0; slot < options_.settings.slots; ++slot) {
    const std::string names = job.names_on(slot);
    log(Level::info, concat("process ", slot, ": ", names.empty() ? "nothing" : names));
  }
  if (options_.snapshots.empty()) {
    log(Level::info, "no snapshots: a process that is lost ends the job");
  } else {
    const auto every = std::chrono::duration<double>(options_.settings.snapshot_interval);
    log(Level::info,
        concat("a snapshot every ", human_seconds(every.count()), " in ", options_.snapshots));
  }
}

void Display::noted(Time at, const Note& note) {
  if (std::holds_alternative<Running>(note)) begun_ = true;
  // The job ends by it, and with the same words.
  const auto* failed = std::get_if<ReplicaFailed>(&note);
  if (failed && (options_.snapshots.empty() || (!begun_ && !failed->item))) return;
  const auto [level, text] = std::visit(Teller{}, note);
  if (quiet_ && level == Level::info) return;
  log(level, concat("at ", human_seconds(seconds(at)), ": ", text));
}

void Display::killed(Time at, const KillReport& kill, const std::string& replica) {
  if (quiet_) return;
  log(Level::info, concat("at ", human_seconds(seconds(at)), ": killing worker ", kill.slot, " (",
                          replica, ") with SIGKILL, as ordered"));
}

void Display::stopping(Time) {
  if (quiet_) return;
  log(Level::info, options_.snapshots.empty()
                       ? "stopping; once more to end at once"
                       : "stopping with a last snapshot; once more to end at once");
}

void Display::progressed(Time at, const JobReport& report) {
  if (quiet_) return;
  remember(at, report);
  if (terminal_) {
    set_status_line(fit_to_terminal(progress_line(at, report)));
  } else if (at >= next_line_) {
    // The first second says nothing yet.
    if (next_line_ != Time{}) log(Level::info, progress_line(at, report));
    next_line_ = at + line_every;
  }
}

void Display::remember(Time at, const JobReport& report) {
  // A recovery takes back what has to be redone.
  if (!recent_.empty() && recent_.back().second > report.bytes) recent_.clear();
  recent_.emplace_back(at, report.bytes);
  while (recent_.size() > 2 && recent_.front().first < at - recent_for) recent_.pop_front();
  if (!began_ && report.read >= 0 && report.items > 0) began_ = {at, report.read};
}

double Display::bytes_per_second() const {
  const auto& [since, before] = recent_.front();
  const auto& [at, bytes] = recent_.back();
  return at == since ? 0 : static_cast<double>(bytes - before) / seconds(at - since);
}

std::string Display::progress_line(Time at, const JobReport& report) const {
  std::string line = name_;
  if (report.read >= 0) line += " " + percent(report.read);
  line += concat(" | ", report.items, " items | ", human_bytes(static_cast<double>(report.bytes)),
                 " in | ", human_bytes(bytes_per_second()), "/s");
  if (began_ && report.read - began_->second > 0.01) {
    const double each = seconds(at - began_->first) / (report.read - began_->second);
    line += " | ETA " + human_seconds(each * (1 - report.read));
  }
  if (report.snapshots.last) {
    line += concat(" | snapshot ", *report.snapshots.last, " (",
                   human_seconds(seconds(at - report.snapshots.last_at)), " ago)");
  }
  return line;
}

}  // namespace piracema::tools
