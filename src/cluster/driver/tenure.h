#pragma once

#include <piracema/error.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/driver/leading.h"
#include "cluster/driver/succession.h"
#include "control/decision.h"
#include "control/job_metadata.h"
#include "loop/poller.h"

namespace piracema::cluster {

/// Whether this coordinator still coordinates its job: another one may, of several or of those that
/// stand by, and this one not know it yet. Belongs to one thread.
class Tenure {
 public:
  /// `leading` may be null. `over` is called once another one coordinates.
  Tenure(Leading* leading, std::function<void()> over)
      : leading_(leading), over_(std::move(over)) {}

  /// From now on until `end` the command that leads, of several, reaches this one from any thread:
  /// it is deposed, or gets a signal.
  void begin(net::Poller& poller, std::function<void(int number)> signalled);
  /// From now on another one may take the job over. `snapshots` and errors as Succession::begin,
  /// whose is the rest; Errc::refused if one has done so already.
  Result<Done> let_others_follow(const std::string& snapshots, const std::string& token,
                                 std::chrono::milliseconds keep, const JobMetadata& metadata);
  /// Null: no other one can.
  Succession* succession() { return succession_ ? &*succession_ : nullptr; }

  /// Asked for before anything is done by these decisions, or by none before anybody is ended for
  /// another reason. `now` is the metadata after them. False: nothing may follow.
  bool decided(const std::vector<Decision>& decisions, const JobMetadata& now);
  void depose();
  bool is_over() const { return is_over_; }

  /// Nothing is done for the job any more. Tells `Leading` what has become of it; `failure` is why
  /// it did not begin. True: it goes on with another coordinator.
  bool end(const std::optional<Error>& failure);

 private:
  Leading* const leading_;
  const std::function<void()> over_;
  std::optional<Succession> succession_;
  bool is_over_ = false;
};

}  // namespace piracema::cluster
