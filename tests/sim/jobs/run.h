#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/jobs/group.h"
#include "sim/jobs/machine.h"
#include "sim/jobs/register.h"
#include "sim/scheduler.h"

namespace piracema::sim {

enum class Faults { all, full_homes };

/// A cluster for a minute, with jobs and faults, and then until all jobs are over.
class Run {
 public:
  explicit Run(std::uint64_t seed, Mistake mistake = Mistake::none, Faults faults = Faults::all);

  void live();
  /// How often something was begun while another attempt, or the same, was alive.
  std::uint32_t broken() const { return all_.broken; }
  std::uint32_t parts() const { return all_.parts; }
  std::uint32_t parts_over() const { return all_.parts_over; }
  std::uint32_t told() const { return all_.told; }
  std::uint32_t joined() const { return all_.joined; }
  std::uint32_t handed_over() const { return all_.handed_over; }
  std::uint32_t kept() const { return all_.kept; }
  std::uint32_t parts_asked() const { return all_.parts_asked; }
  std::uint32_t forgotten() const { return forgotten_; }
  std::uint32_t resized() const { return resized_; }
  std::uint32_t given_back() const { return all_.given_back; }
  std::uint32_t began_alike() const { return all_.began_alike; }
  std::uint32_t late() const { return all_.late; }
  std::uint32_t asked() const { return all_.asked; }
  std::uint32_t suspended() const { return all_.suspended; }
  std::uint32_t resumed() const { return all_.resumed; }
  std::uint32_t beside_user() const { return all_.beside_user; }
  std::uint32_t forgotten_still() const { return all_.forgotten_still; }
  std::uint32_t stayed() const { return all_.stayed; }
  std::uint32_t came_too_late() const { return all_.came_too_late; }
  std::size_t beside() const { return all_.beside.size(); }
  std::uint32_t beside_told() const { return beside_told_; }
  /// Ends of commands that lost a part, and that did not count as failures of their own.
  std::uint32_t forgiven() const { return forgiven_; }

  void check();

 private:
  void submit();

  void ask_beside();
  void wait_beside(const Attempt& asked, std::uint64_t mark);

  std::optional<std::string> first_of_three() const;
  void fault();
  void fill_home();

  Scheduler scheduler_;
  Register all_;
  Group group_;
  std::vector<std::unique_ptr<Machine>> machines_;
  std::uint32_t forgotten_ = 0, beside_told_ = 0, resized_ = 0, forgiven_ = 0;
};

}  // namespace piracema::sim
