#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cluster/driver/door.h"
#include "cluster/driver/onlookers.h"
#include "control/job_metadata.h"
#include "loop/poller.h"

/// For tests of those that look on.
namespace piracema::council::testing {

inline const std::string key_of_job(32, 'a');

/// Of two slots, with snapshots, which nobody has decided anything of.
inline cluster::JobMetadata job_of_two() {
  cluster::JobSettings settings;
  settings.slots = 2;
  settings.snapshots = true;
  return cluster::JobMetadata(settings);
}

/// A coordinator that leads, with its door.
struct Leads {
  explicit Leads(net::Poller& poller, cluster::Onlookers::Asked asked = {})
      : onlookers(
            [this](const cluster::HandedOnSignal& signal) { signals.push_back(signal); },
            std::move(asked),
            [this](const cluster::PastOfJob& past) { pasts.emplace_back(as_text(past.past)); }),
        door(*cluster::Door::open(poller, key_of_job,
                                  {.expected = [](const runtime::Hello&) -> Result<Done> {
                                     return Error{Errc::refused, "no workers here"};
                                   },
                                   .joined = {},
                                   .agent = {},
                                   .onlooker =
                                       [this](cluster::Door::Line line) {
                                         came += 1;
                                         return onlookers.joined(std::move(line));
                                       }})) {}
  void die() {
    onlookers.leave();
    door->shut();
  }

  int came = 0;
  std::vector<cluster::HandedOnSignal> signals;
  /// That it was told of.
  std::vector<std::string> pasts;
  cluster::Onlookers onlookers;
  std::unique_ptr<cluster::Door> door;
};

}  // namespace piracema::council::testing
