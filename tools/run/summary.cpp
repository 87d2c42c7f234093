#include "tools/run/summary.h"

#include <cmath>
#include <optional>

#include "base/log.h"
#include "base/text.h"
#include "tools/run/kill_order.h"
#include "tools/run/report_json.h"

namespace piracema::tools {

namespace {

using namespace cluster;

std::string after(const char* what, const std::optional<Time>& from,
                  const std::optional<Time>& to) {
  if (!from || !to) return concat(what, " never");
  return concat(what, " after ", human_seconds(seconds(*to - *from)));
}

// How far it came: the next failure may have come before all ran again.
std::string progress_of(const RecoveryReport& recovery, bool is_last) {
  if (!recovery.running_at && !is_last) return "overtaken by the next one";
  return concat(after("running again", recovery.noticed_at, recovery.running_at), ", ",
                after("first new item out", recovery.noticed_at, recovery.first_out_at));
}

void print_kill(const KillReport& kill) {
  if (!kill.killed_at) {
    log(Level::warning, concat("kill ", kill_text(kill.order),
                               " was not carried out: the sources never said they had read that "
                               "much"));
    return;
  }
  log(Level::info, concat("kill ", kill_text(kill.order), ": ",
                          after("noticed", kill.killed_at, kill.noticed_at), ", ",
                          after("first new item out", kill.killed_at, kill.first_out_at)));
}

}  // namespace

std::string recovery_text(const RecoveryReport& recovery, bool is_last) {
  std::string causes;
  for (const std::string& cause : recovery.causes) {
    causes += (causes.empty() ? "" : "; ") + cause;
  }
  return concat("recovery: ", causes, "; ", progress_of(recovery, is_last), ", ", recovery.redone,
                " items redone from ",
                recovery.restore ? concat("snapshot ", *recovery.restore) : "the beginning");
}

void print_summary(const JobReport& report) {
  const double time = seconds(report.took);
  const double bytes = static_cast<double>(report.bytes);
  log(Level::info,
      concat(report.items, " items, ", human_bytes(bytes), " in ", human_seconds(time), ": ",
             human_bytes(time > 0 ? bytes / time : 0), "/s; CPU ",
             human_seconds(seconds(report.cpu)), ", ", std::lround(cpu_efficiency(report) * 100),
             " % of ", core_count(), " cores; largest worker ",
             human_bytes(static_cast<double>(report.peak_bytes))));
  if (const auto& snapshots = report.snapshots; snapshots.taken + snapshots.failed != 0) {
    const auto taken = static_cast<double>(snapshots.taken);
    log(Level::info,
        concat(snapshots.taken, snapshots.taken == 1 ? " snapshot of " : " snapshots of ",
               human_bytes(taken > 0 ? static_cast<double>(snapshots.bytes) / taken : 0), " in ",
               human_seconds(taken > 0 ? seconds(snapshots.took) / taken : 0), " each, ",
               snapshots.failed, " failed"));
  }
  for (const std::string& text : late_items(report)) log(Level::info, text);
  for (const RecoveryReport& recovery : report.recoveries) {
    log(Level::info, recovery_text(recovery, &recovery == &report.recoveries.back()));
  }
  for (const KillReport& kill : report.kills) print_kill(kill);
}

}  // namespace piracema::tools
