#pragma once

#include <piracema/error.h>

#include <vector>

#include "base/ids.h"
#include "control/coordinator_job.h"
#include "observe/status/report.h"

/// Kills on order, to see a job survive them (JobOptions::kills). Pure.
namespace piracema::cluster {

/// Errc::config names the first replica that the job does not have, and those that it has.
Result<Done> check_kills(const std::vector<KillOrder>& orders, const Job& job);

struct DueKill {
  /// In the report, with its slot.
  KillReport* kill = nullptr;
  ReplicaId replica = 0;
};
/// Those of the report that were not carried out, and whose time has come by what the sources have
/// read. One of a replica that is there no more, as the job was scaled, is left out.
std::vector<DueKill> kills_due(JobReport& report, const Job& job);

}  // namespace piracema::cluster
