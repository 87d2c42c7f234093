// What goes wrong, drawn from the seed.
#include "sim/cluster_process.h"

namespace piracema::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

void Cluster::repeat(Time mean, std::function<void()> fault) {
  if (mean == Time{}) return;
  scheduler_.after(scheduler_.between(Time{0}, 2 * mean), [this, mean, fault = std::move(fault)] {
    if (scheduler_.now() >= settings_.chaos.until || finish_) return;
    fault();
    repeat(mean, fault);
  });
}

void Cluster::plan_faults() {
  const Chaos& chaos = settings_.chaos;
  const auto to_any = [this](auto what) {
    return [this, what] {
      if (Process* process = any_process()) what(*process);
    };
  };
  repeat(chaos.kill, to_any([this](Process& process) {
           end(process, "killed by signal 9 (SIGKILL)", true, false);
         }));
  repeat(chaos.crash, to_any([this](Process& process) {
           end(process, "killed by signal 11 (SIGSEGV)", false, false);
         }));
  repeat(chaos.freeze, to_any([this](Process& process) {
           network_.freeze(process.node());
           scheduler_.after(scheduler_.between(milliseconds(10), seconds(4)),
                            [this, node = process.node()] { network_.thaw(node); });
         }));
  repeat(chaos.disconnect, to_any([this](Process& process) { disconnect(process); }));
  repeat(chaos.slow, to_any([this](Process& process) {
           network_.slow_down(process.node(),
                              scheduler_.between(milliseconds(1), milliseconds(900)));
           scheduler_.after(scheduler_.between(milliseconds(10), seconds(2)),
                            [this, node = process.node()] { network_.slow_down(node, Time{}); });
         }));
  repeat(chaos.operator_failure, to_any([](Process& process) {
           if (process.worker() != nullptr) process.worker()->fail_somewhere();
         }));
  repeat(chaos.coordinator_kill, [this] {
    if (coordinated()) dying_ = scheduler_.between(milliseconds(5), seconds(2));
  });
  repeat(chaos.stall, [this] {
    network_.freeze(coordinator_node_);
    scheduler_.after(scheduler_.between(milliseconds(10), seconds(4)),
                     [this] { network_.thaw(coordinator_node_); });
  });
}

}  // namespace piracema::sim
