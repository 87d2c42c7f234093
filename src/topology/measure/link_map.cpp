#include "topology/measure/link_map.h"

#include <algorithm>
#include <cmath>

#include "base/ensure.h"

namespace piracema::coll {

namespace {

double in_seconds(Time time) { return std::chrono::duration<double>(time).count(); }

constexpr double latency_max = 1e6;

}  // namespace

LinkMap::LinkMap(Rank me, Rank size, std::uint64_t seed)
    : me_(me),
      random_(seed),
      rows_(size),
      forecasters_(size),
      steady_(size),
      transfers_(size),
      steady_transfers_(size) {
  ENSURE(me < size && size <= link_map_ranks_max);
  for (Rank rank = 0; rank < size; ++rank) {
    rows_[rank].of = rank;
    rows_[rank].latency.assign(size, -1);
    rows_[rank].megabyte.assign(size, -1);
  }
}

void LinkMap::on_round_trip(Rank peer, Time took) {
  const double latency = in_seconds(took) / 2;
  forecasters_[peer].add(latency);
  move_by(rows_[me_].place, rows_[peer].place, latency, random_.unit());
  if (steady_[peer].follow(forecasters_[peer].forecast())) publish(peer);
}

void LinkMap::on_silence(Rank peer, Time so_far) {
  const double at_least = in_seconds(so_far) / 2;
  const double thought = steady_[peer].value();
  // A packet may be late or lost; a link that has become three times as slow is another matter.
  if (thought < 0 || at_least < 3 * thought || at_least < thought + 0.01) return;
  if (steady_[peer].follow(at_least)) publish(peer);
}

void LinkMap::on_transfer(Rank peer, double megabyte) {
  transfers_[peer].add(megabyte);
  if (!steady_transfers_[peer].follow(transfers_[peer].forecast())) return;
  rows_[me_].megabyte[peer] = static_cast<float>(steady_transfers_[peer].value());
  changed();
}

void LinkMap::publish(Rank peer) {
  rows_[me_].latency[peer] = static_cast<float>(steady_[peer].value());
  changed();
}

void LinkMap::changed() {
  rows_[me_].version += 1;
  version_ += 1;
}

bool LinkMap::on_row(const Row& row) {
  if (row.of >= size() || row.latency.size() != size()) return false;
  if (row.megabyte.size() != size()) return false;
  const auto is_time = [](float value) { return value < latency_max; };  // False for NaN.
  if (!std::all_of(row.latency.begin(), row.latency.end(), is_time)) return false;
  if (!std::all_of(row.megabyte.begin(), row.megabyte.end(), is_time)) return false;
  for (const double part :
       {row.place.at[0], row.place.at[1], row.place.at[2], row.place.height, row.place.error}) {
    if (!(std::abs(part) < latency_max)) return false;
  }
  if (row.of == me_) return true;
  if (row.version > rows_[row.of].version) {
    rows_[row.of] = row;
    version_ += 1;
  } else {
    rows_[row.of].place = row.place;  // It moves all the time.
  }
  return true;
}

double LinkMap::known_latency(Rank a, Rank b) const {
  const double there = rows_[a].latency[b], back = rows_[b].latency[a];
  // Of two that differ much one has noticed a change that the other has not, or is blind.
  return there >= 0 && back >= 0 ? (there + back) / 2 : std::max(there, back);
}

LinkTable LinkMap::table(std::size_t* measured) const {
  LinkTable table(size());
  std::vector<double> known;
  for (Rank a = 0; a < size(); ++a) {
    for (Rank b = 0; b < a; ++b) {
      const double latency = known_latency(a, b);
      if (latency >= 0) known.push_back(latency);
      // Each end has measured what came to it.
      const double to_b = rows_[b].megabyte[a], to_a = rows_[a].megabyte[b];
      table.at(a, b) = {latency, std::max(to_b >= 0 ? to_b : to_a, 0.0) / 1e6};
      table.at(b, a) = {latency, std::max(to_a >= 0 ? to_a : to_b, 0.0) / 1e6};
    }
  }
  if (measured) *measured = known.size();
  double usual = 0;
  if (!known.empty()) {
    const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
    std::nth_element(known.begin(), middle, known.end());
    usual = *middle;
  }
  for (Rank a = 0; a < size(); ++a) {
    for (Rank b = 0; b < a; ++b) {
      if (table.at(a, b).latency >= 0) continue;
      const Coordinate& there = rows_[a].place;
      const Coordinate& here = rows_[b].place;
      const bool placed = there.error < 0.5 && here.error < 0.5;
      table.at(a, b).latency = table.at(b, a).latency = placed ? distance(there, here) : usual;
    }
  }
  return table;
}

}  // namespace piracema::coll
