#pragma once

#include "cluster/driver/driver.h"

namespace piracema::tools {

/// Tells programs on standard output how a job is getting on: a JSON object a line.
class JsonDisplay : public cluster::JobObserver {
 public:
  void standing_by(const std::string& why) override;
  void leads(std::uint32_t number, std::uint32_t of, bool taken_over) override;
  void follows(std::uint32_t number, std::uint32_t of) override;
  void planned(const cluster::Job& job, const cluster::JobReport& report) override;
  void noted(Time at, const cluster::Note& note) override;
  void killed(Time at, const cluster::KillReport& kill, const std::string& replica) override;
  void stopping(Time at) override;
};

}  // namespace piracema::tools
