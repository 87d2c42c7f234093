#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "cluster/smr/linear/clients.h"
#include "cluster/smr/linear/replicas.h"
#include "cluster/smr/linear/service.h"

namespace piracema::testing {

/// One fault at a time, and back to a group in which nothing is wrong. One thread.
class Faults {
 public:
  struct Place {
    Replicas* replicas;
    Clients* clients;
    Service* service;
    const Lan* lan;
    Lan* cables;
    bool byzantine;
    std::uint32_t checkpoint_every;
    bool replaces_founders;
  };
  Faults(const Place& place, std::uint64_t seed) : place_(place), random_(seed) {}

  /// All kinds that this group can have on this machine, and has to bear. Besides, `lose-all`: all
  /// of it is gone, and an empty group takes its place. It shows that the checker sees what is
  /// wrong.
  std::vector<std::string> kinds() const;
  /// Whether it can happen now: of the replicas that the group began with two are kept, unless
  /// `replaces_founders`. Who has an empty disk asks only those, and those of views that they tell
  /// it of.
  bool can_happen(const std::string& kind) const;
  /// Errc::failed or Errc::timeout with one line: the group has not recovered.
  Result<Done> happen(const std::string& kind);

  /// One line for people.
  std::string replicas_now() const { return place_.replicas->now_as_text(); }

  /// The time that nobody may be without an answer, and that a member may need to catch up.
  static constexpr std::chrono::seconds patience{60}, patience_to_catch_up{120};

 private:
  Result<std::vector<std::uint32_t>> victims_of(const std::string& kind) const;
  Result<Done> happen_to(const std::string& kind, std::uint32_t victim);
  Result<Done> serves(std::uint64_t answers) const;
  Result<Done> lasts(Time time) const;
  Result<Done> misses_checkpoints() const;

  const Place place_;
  Random random_;
};

}  // namespace piracema::testing
