#pragma once

#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

namespace piracema::flow {

/// Where a process is: equal numbers are one host, and hosts of one site.
struct Location {
  std::uint32_t host = 0, site = 0;
  auto fields() { return std::tie(host, site); }
  bool operator==(const Location&) const = default;
};

/// How near processes are to each other: what an item saves that goes between them, over one that
/// goes as far as any does. One that stays in its process costs nothing, from process to process it
/// costs 1, from host to host 10 and from site to site 100.
class Nearness {
 public:
  /// By the numbers of processes, `slots` in all. One without a location is on a host and a site of
  /// its own; where none has one, all are equally far from each other.
  Nearness(const std::vector<Location>& locations, std::uint32_t slots);

  /// Processes, hosts or sites: the one that each process is, or is in.
  struct Level {
    std::vector<std::uint32_t> place_of;
    std::uint32_t places = 0;
    /// What an item saves that does not leave such a place, beside what it saves by staying in a
    /// larger one.
    double saves = 0;
  };
  /// Without those at which all are in one place.
  const std::vector<Level>& levels() const { return levels_; }
  double between(std::uint32_t a, std::uint32_t b) const;
  /// All processes, those of a site and of a host one after the other.
  std::vector<std::uint32_t> in_order() const;

 private:
  /// What it is in; second, unless it says `true`: then it is in what nobody else is in.
  using PlaceOf = std::function<std::pair<bool, std::uint32_t>(std::uint32_t slot)>;
  void add(const PlaceOf& place_of, double cost);

  std::uint32_t slots_;
  std::vector<Level> levels_;
  double cost_ = 0;
};

}  // namespace piracema::flow
