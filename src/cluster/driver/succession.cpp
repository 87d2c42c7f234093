#include "cluster/driver/succession.h"

#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "host/coordinator_file.h"

namespace piracema::cluster {

Result<Succession> Succession::begin(std::unique_ptr<DecisionLog> log, const std::string& snapshots,
                                     const std::string& token, std::chrono::milliseconds keep,
                                     const JobMetadata& metadata) {
  if (auto begun = log->begin(metadata); !begun) return begun.error();
  return Succession(std::move(log), snapshots, token, keep);
}

Succession::Succession(std::unique_ptr<DecisionLog> log, std::string snapshots, std::string token,
                       std::chrono::milliseconds keep)
    : log_(std::move(log)),
      snapshots_(std::move(snapshots)),
      token_(std::move(token)),
      keep_(keep) {}

Result<Done> Succession::listens(std::vector<std::string> addresses) {
  addresses_ = std::move(addresses);
  auto written = write_doors();
  if (!written) return Error{Errc::config, written.error().message};
  return Done{};
}

Result<Done> Succession::write_doors() {
  if (file().empty()) return Done{};
  written_ = log_->doors(addresses_);
  return write_coordinator_file(file(), token_, written_);
}

std::string Succession::file() const {
  return snapshots_.empty() ? "" : coordinator_file(snapshots_);
}

void Succession::show_life() {
  log_->show_life();
  if (file().empty() || addresses_.empty() || log_->doors(addresses_) == written_) return;
  if (auto written = write_doors(); !written) {
    log(Level::warning,
        concat("agents and workers do not find a new coordinator: ", written.error().message));
  }
}

bool Succession::decided(const std::vector<Decision>& decisions, const JobMetadata& now) {
  return log_->append(decisions, now) != DecisionLog::Kept::deposed;
}

// The file last: it may be the one of a successor already, whose workers would take themselves for
// nobody's.
bool Succession::end(int code, const std::string& why) {
  if (log_->end(code, why) == DecisionLog::Kept::deposed) return false;
  if (file().empty()) return true;
  if (auto closed = close_coordinator_file(file(), code); !closed) {
    log(Level::warning, closed.error().message);
  }
  return true;
}

std::vector<std::string> Succession::environment() const {
  return {concat("PIRACEMA_COORDINATOR_WAIT_MS=", keep_.count()),
          concat("PIRACEMA_COORDINATOR_FILE=", file())};
}

void Succession::add_to(Setup& setup) const {
  setup.keep_ms = static_cast<std::uint32_t>(keep_.count());
  setup.coordinator_file = file();
  setup.coordinators = doors();
}

}  // namespace piracema::cluster
