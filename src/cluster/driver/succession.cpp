#include "cluster/driver/succession.h"

#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "host/coordinator_file.h"

namespace piracema::cluster {

Result<Succession> Succession::begin(const std::string& snapshots, const std::string& token,
                                     std::chrono::milliseconds keep, const JobMetadata& metadata) {
  auto record = JobRecord::begin(snapshots, token, keep, metadata);
  if (!record) return Error{Errc::config, record.error().message};
  return Succession(snapshots, token, keep, *std::move(record));
}

Succession::Succession(std::string snapshots, std::string token, std::chrono::milliseconds keep,
                       JobRecord record)
    : snapshots_(std::move(snapshots)),
      token_(std::move(token)),
      keep_(keep),
      record_(std::move(record)) {}

Result<Done> Succession::listens(const std::vector<std::string>& addresses) {
  auto written = write_coordinator_file(coordinator_file(snapshots_), token_, addresses);
  if (!written) return Error{Errc::config, written.error().message};
  return Done{};
}

void Succession::decided(const std::vector<Decision>& decisions, const JobMetadata& now) {
  if (!whole_) return;
  const auto added = record_.add(decisions, now);
  if (added) return;
  log(Level::warning,
      concat(added.error().message, ": no other coordinator can take this job over"));
  record_.give_up();
  whole_ = false;
}

// Also where nobody may take the job over: its workers may still run, and for how long is told by
// it.
void Succession::show_life() { record_.show_life(); }

void Succession::end() {
  for (const Result<Done>& done :
       {JobRecord::remove(snapshots_), close_coordinator_file(coordinator_file(snapshots_))}) {
    if (!done) log(Level::warning, done.error().message);
  }
}

std::vector<std::string> Succession::environment() const {
  return {concat("PIRACEMA_COORDINATOR_WAIT_MS=", keep_.count()),
          concat("PIRACEMA_COORDINATOR_FILE=", coordinator_file(snapshots_))};
}

void Succession::add_to(Setup& setup) const {
  setup.keep_ms = static_cast<std::uint32_t>(keep_.count());
  setup.coordinator_file = coordinator_file(snapshots_);
}

}  // namespace piracema::cluster
