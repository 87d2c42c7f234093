#include "cluster/driver/places.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "host/agent_messages.h"

namespace piracema::cluster {

Places::Places(const JobOptions& options, Crew& crew, Hosts& hosts, std::function<void()> started)
    : options_(options),
      crew_(crew),
      hosts_(hosts),
      started_(std::move(started)),
      host_of_slot_(options.host_of_slot) {
  give_hosts();
}

// Whether the host is on the site where the slot is meant to be, if anybody has said so.
bool Places::is_near(std::size_t host, Slot slot) const {
  const std::vector<flow::Location>& meant = options_.settings.locations;
  if (slot >= meant.size()) return false;
  return std::any_of(meant.begin(), meant.end(), [&](const flow::Location& one) {
    return one.host == host && one.site == meant[slot].site;
  });
}

// The host of the slot, else the one of those that can be reached that has the least to do; of
// several such one near its own.
// The first process of a slot has not lost anything yet: the user's choice is worth a moment.
std::optional<std::size_t> Places::choose(Crew::Id id) const {
  const std::size_t own = host_of_slot_[id.first];
  const bool is_first = id.second == 0 && hosts_.is_up(own) && !hosts_.is_draining(own);
  if (hosts_.can_start(own) || is_first) return own;
  std::optional<std::size_t> best;
  for (std::size_t host = 0; host < options_.hosts.size(); ++host) {
    if (!hosts_.can_start(host)) continue;
    const auto rank = [&](std::size_t of) {
      return std::pair(crew_.count_on(of), !is_near(of, id.first));
    };
    if (!best || rank(host) < rank(*best)) best = host;
  }
  return best;
}

// What the user said of the slot, as it is on this host: another one's port and cores are not its.
std::vector<std::string> Places::environment_on(std::size_t host, Slot slot) const {
  std::vector<std::string> environment;
  if (slot < options_.environments.size()) environment = options_.environments[slot];
  if (slot < options_.host_of_slot.size() && host == options_.host_of_slot[slot]) {
    environment.push_back(place_on_host(slot));
    return environment;
  }
  set_variable(environment, concat("PIRACEMA_LISTEN=", with_port(options_.hosts[host].address, 0)));
  set_variable(environment, "PIRACEMA_CORES=");
  return environment;
}

// Which of the processes of its host it is, and how many they are, as long as all hosts live.
std::string Places::place_on_host(Slot slot) const {
  std::size_t before = 0, all = 0;
  const std::vector<std::size_t>& meant = options_.host_of_slot;
  for (Slot other = 0; other < meant.size() && other < options_.settings.slots; ++other) {
    if (meant[other] != meant[slot]) continue;
    all += 1;
    before += other < slot ? 1 : 0;
  }
  return concat("PIRACEMA_PLACE=", before, "/", all);
}

void Places::start(Crew::Id id, Time now) {
  const auto host = choose(id);
  if (!host) {
    if (waiting_.empty()) waiting_since_ = now;
    waiting_.push_back(id);
    return;
  }
  const std::size_t wanted = host_of_slot_[id.first];
  if (*host != wanted) {
    const bool drains = hosts_.is_draining(wanted);
    log(drains ? Level::info : Level::warning,
        concat("worker ", id.first, " is started on ", options_.hosts[*host].name, ": ",
               options_.hosts[wanted].name, drains ? " is draining" : " cannot be reached"));
  }
  if (!crew_.start(id, *host)) return;
  started_();
  hosts_.start(*host, StartProcess{id.first, id.second, environment_on(*host, id.first)});
}

void Places::start_waiting(Time now) {
  const auto can_start = [this](Crew::Id id) { return choose(id).has_value(); };
  if (!std::all_of(waiting_.begin(), waiting_.end(), can_start)) return;
  for (const Crew::Id& id : std::exchange(waiting_, {})) start(id, now);
}

std::optional<std::size_t> Places::now_on(Slot slot) const {
  const auto process = crew_.newest(slot);
  return process ? crew_.host_of(*process) : std::nullopt;
}

Places::Displaced Places::displaced() const {
  Displaced displaced;
  for (Slot slot = 0; slot < host_of_slot_.size(); ++slot) {
    const auto host = now_on(slot);
    const std::size_t own = host_of_slot_[slot];
    if (!host) continue;
    if (hosts_.is_draining(*host)) {
      if (!choose(*crew_.newest(slot))) continue;
      displaced.drains = true;
    } else if (*host == own || !hosts_.is_steady(own)) {
      continue;
    }
    displaced.slots.push_back(slot);
  }
  return displaced;
}

bool Places::is_on_draining(Slot slot) const {
  const auto host = now_on(slot);
  return host && hosts_.is_draining(*host);
}

std::string Places::host_of(Slot slot) const {
  const auto host = now_on(slot);
  return host ? options_.hosts[*host].name : "nowhere";
}

const std::string& Places::own_host_of(Slot slot) const {
  return options_.hosts[host_of_slot_[slot]].name;
}

void Places::share_with(std::size_t host, std::optional<std::uint32_t> places) {
  std::size_t used = 0;
  for (std::size_t one = 0; one < options_.hosts.size(); ++one) used += hosts_.is_wanted(one);
  const std::size_t share = (host_of_slot_.size() + used - 1) / used;
  for (;;) {
    std::vector<std::size_t> slots(options_.hosts.size());
    for (const std::size_t one : host_of_slot_) slots[one] += 1;
    if (slots[host] >= std::min<std::size_t>(share, places.value_or(share))) return;
    const auto gives = [&](std::size_t one) {
      return slots[one] != 0 && (!hosts_.is_wanted(one) || slots[one] > slots[host] + 1);
    };
    std::optional<std::size_t> from;
    for (std::size_t one = 0; one < slots.size(); ++one) {
      if (one == host || !gives(one)) continue;
      const auto rank = [&](std::size_t of) { return std::pair(!hosts_.is_wanted(of), slots[of]); };
      if (!from || rank(one) > rank(*from)) from = one;
    }
    if (!from) return;
    // The last one of those there.
    *std::find(host_of_slot_.rbegin(), host_of_slot_.rend(), *from) = host;
  }
}

std::size_t Places::emptiest() const {
  std::vector<std::size_t> slots(options_.hosts.size());
  for (const std::size_t host : host_of_slot_) slots[host] += 1;
  std::size_t best = 0;
  for (std::size_t host = 1; host < slots.size(); ++host) {
    const auto rank = [&](std::size_t of) { return std::pair(!hosts_.is_wanted(of), slots[of]); };
    if (rank(host) < rank(best)) best = host;
  }
  return best;
}

bool Places::give_hosts() {
  const std::size_t before = host_of_slot_.size();
  while (host_of_slot_.size() < options_.settings.slots) host_of_slot_.push_back(emptiest());
  return host_of_slot_.size() != before;
}

}  // namespace piracema::cluster
