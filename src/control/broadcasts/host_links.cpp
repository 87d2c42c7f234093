#include "control/broadcasts/host_links.h"

#include <algorithm>

#include "topology/measure/guess.h"

namespace piracema::cluster {

namespace {

constexpr Time lasts_first = std::chrono::seconds(60), lasts_most = std::chrono::hours(1);
/// Of what a host was seen to send, what counts when it sends less: half of it in some 350 reports.
constexpr double sent_kept = 0.998;
constexpr unsigned speeds_to_know = 3;
/// The same of all that a host sends: some seconds of it.
constexpr unsigned reports_to_know = 12;
/// A speed that differs by less is the same one.
constexpr double same_speed = 1.25;

/// Where a link's latency is not known: the median of those that are.
void guess_latency(coll::LinkTable& table) {
  std::vector<double> known;
  const auto each = [&](auto use) {
    for (coll::Rank from = 0; from < table.size(); ++from) {
      for (coll::Rank to = 0; to < table.size(); ++to) {
        if (from != to) use(table.at(from, to).latency);
      }
    }
  };
  each([&](double latency) {
    if (latency > 0) known.push_back(latency);
  });
  if (known.empty()) return;
  const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
  std::nth_element(known.begin(), middle, known.end());
  each([&](double& latency) {
    if (latency <= 0) latency = *middle;
  });
}

}  // namespace

void HostLinks::seen(const std::string& from, const std::string& to, const runtime::LinkSeen& link,
                     Time now) {
  Known& known = links_[{from, to}];
  if (link.round_trip_us != 0) {
    if (known.latency.follow(link.round_trip_us / 2.0 * 1e-6)) version_ += 1;
  }
  if (link.bytes_per_second == 0) return;
  const auto speed = static_cast<double>(link.bytes_per_second);
  // What it could have carried is no less than it has, and maybe more.
  const double megabyte = 1e6 / speed;
  const bool faster = known.speed_seen && megabyte < known.megabyte.value();
  const bool is_known = !link.at_least && ++known.speeds >= speeds_to_know;
  if (is_known || faster) return speed_seen(known, megabyte, now);
  known.carried = std::max(known.carried, speed);
  if (known.speed_seen) known.speed_seen = now;
}

void HostLinks::speed_seen(Known& known, double megabyte, Time now) {
  if (!known.speed_seen) {
    const bool as_before = megabyte * same_speed > known.forgotten_megabyte;
    const bool again = known.forgotten_megabyte > 0 && as_before;
    known.lasts = again ? std::min(2 * known.lasts, lasts_most) : lasts_first;
  } else {
    // A link that is another one altogether is believed the second time.
    const double foretold = known.megabytes.forecast();
    const bool surprise = megabyte > 2 * foretold || 2 * megabyte < foretold;
    known.surprises = surprise ? known.surprises + 1 : 0;
    if (known.surprises == 2) known.megabytes = {};
  }
  known.speed_seen = now;
  known.carried = 0;
  known.megabytes.add(megabyte);
  if (known.megabyte.follow(known.megabytes.forecast())) version_ += 1;
}

void HostLinks::sent(const std::string& from, std::uint64_t bytes_per_second) {
  Sent& sent = sent_[from];
  sent.most = std::max(sent_kept * sent.most, static_cast<double>(bytes_per_second));
  sent.reports += 1;
}

std::uint64_t HostLinks::version(Time now) {
  for (auto& [which, known] : links_) {
    if (!known.speed_seen || now < *known.speed_seen + known.lasts) continue;
    known.forgotten_megabyte = known.megabyte.value();
    known.speed_seen.reset();
    known.speeds = 0;
    known.megabyte = {};
    known.megabytes = {};
    version_ += 1;
  }
  return version_;
}

std::optional<Time> HostLinks::next_forgotten() const {
  std::optional<Time> next;
  for (const auto& [which, known] : links_) {
    if (!known.speed_seen) continue;
    const Time at = *known.speed_seen + known.lasts;
    if (!next || at < *next) next = at;
  }
  return next;
}

coll::LinkTable HostLinks::table(const std::vector<std::string>& hosts) const {
  const auto size = static_cast<coll::Rank>(hosts.size());
  const auto known = [&](coll::Rank from, coll::Rank to) {
    const auto found = links_.find({hosts[from], hosts[to]});
    return found == links_.end() ? nullptr : &found->second;
  };
  coll::LinkTable table(size);
  for (coll::Rank from = 0; from < size; ++from) {
    for (coll::Rank to = 0; to < size; ++to) {
      coll::Link& link = table.at(from, to);
      for (const Known* one : {known(from, to), known(to, from)}) {
        if (one == nullptr) continue;
        if (link.latency <= 0) link.latency = std::max(one->latency.value(), 0.0);
        if (link.per_byte <= 0 && one->speed_seen) link.per_byte = one->megabyte.value() * 1e-6;
      }
    }
  }
  guess_latency(table);
  coll::guess_bandwidth(table);
  for (coll::Rank from = 0; from < size; ++from) {
    for (coll::Rank to = 0; to < size; ++to) {
      const Known* const one = known(from, to);
      if (one == nullptr || one->speed_seen || one->carried <= 0) continue;
      table.at(from, to).per_byte = std::min(table.at(from, to).per_byte, 1 / one->carried);
    }
  }
  return table;
}

std::vector<double> HostLinks::uplinks(const std::vector<std::string>& hosts) const {
  std::vector<double> all;
  for (const std::string& host : hosts) {
    const auto sent = sent_.find(host);
    const bool known = sent != sent_.end() && sent->second.reports >= reports_to_know &&
                       sent->second.most > 0;  // A peer may say anything.
    all.push_back(known ? 1 / sent->second.most : 0);
  }
  return all;
}

std::size_t HostLinks::known() const {
  return static_cast<std::size_t>(std::count_if(links_.begin(), links_.end(), [](const auto& link) {
    return link.second.speed_seen.has_value();
  }));
}

}  // namespace piracema::cluster
