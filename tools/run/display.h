#pragma once

#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "cluster/driver/driver.h"

namespace piracema::tools {

/// Tells people on standard error how a job is getting on: a line that is redrawn on a terminal,
/// one every few seconds elsewhere, and one for whatever happens.
class Display : public cluster::JobObserver {
 public:
  Display(const cluster::JobOptions& options, bool quiet);
  ~Display() override;

  void standing_by(const std::string& why) override;
  void leads(std::uint32_t number, std::uint32_t of, bool taken_over) override;
  void follows(std::uint32_t number, std::uint32_t of) override;
  void planned(const cluster::Job& job, const cluster::JobReport& report) override;
  void noted(Time at, const cluster::Note& note) override;
  void killed(Time at, const cluster::KillReport& kill, const std::string& replica) override;
  void progressed(Time at, const cluster::JobReport& report) override;
  void stopping(Time at) override;

 private:
  void remember(Time at, const cluster::JobReport& report);
  std::string progress_line(Time at, const cluster::JobReport& report) const;
  double bytes_per_second() const;

  const cluster::JobOptions& options_;
  const std::string name_;
  const bool quiet_;
  const bool terminal_;

  /// When, and how many bytes by then, over the last seconds.
  std::deque<std::pair<Time, std::uint64_t>> recent_;
  /// Where the input stood when it was first known; a job that is resumed begins in the middle.
  std::optional<std::pair<Time, double>> began_;
  Time next_line_{};
  /// All replicas have begun.
  bool begun_ = false;
};

}  // namespace piracema::tools
