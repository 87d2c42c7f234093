#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "control/messages/control.h"
#include "topology/measure/forecaster.h"
#include "topology/measure/steady.h"
#include "topology/trees/costs.h"

namespace piracema::cluster {

/// What the processes of a job have seen of the links between its hosts. Pure.
///
/// A link that carries nothing says nothing of its speed. What was seen of one is forgotten after a
/// while, so that one that is mended is tried again; if it proves as slow as it was, it is left in
/// peace for twice as long the next time.
class HostLinks {
 public:
  void seen(const std::string& from, const std::string& to, const runtime::LinkSeen&, Time now);
  /// A process of the host has sent so much to all others together, and one link at least was full.
  void sent(const std::string& from, std::uint64_t bytes_per_second);

  /// Grows when a link is another one than it was: what is made of them may be made anew.
  std::uint64_t version(Time now);
  /// When it grows without anything that is seen.
  std::optional<Time> next_forgotten() const;

  /// These hosts, as ranks in this order. What is not known is guessed by what is.
  coll::LinkTable table(const std::vector<std::string>& hosts) const;
  /// Seconds a byte that all that a host sends shares: by the most that it was seen to send; 0
  /// while too little was seen.
  std::vector<double> uplinks(const std::vector<std::string>& hosts) const;
  /// Links with a speed that was seen.
  std::size_t known() const;

 private:
  struct Known {
    /// Seconds; of a megabyte.
    coll::Steady latency, megabyte;
    coll::Forecaster megabytes;
    /// A connection that begins is slow: its first speeds are no more than it can at least.
    unsigned speeds = 0;
    /// Times in a row that it was another one altogether.
    unsigned surprises = 0;
    std::optional<Time> speed_seen;
    /// Bytes a second that it has carried when there was no more to carry.
    double carried = 0;
    /// For how long its speed counts without being seen again.
    Time lasts{};
    /// What it was when it was forgotten; 0: it was not.
    double forgotten_megabyte = 0;
  };

  void speed_seen(Known&, double megabyte, Time now);

  std::map<std::pair<std::string, std::string>, Known> links_;
  struct Sent {
    /// Bytes a second.
    double most = 0;
    unsigned reports = 0;
  };
  std::map<std::string, Sent> sent_;
  std::uint64_t version_ = 0;
};

}  // namespace piracema::cluster
