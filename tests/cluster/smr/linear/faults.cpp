#include "cluster/smr/linear/faults.h"

#include <thread>

#include "base/text.h"

namespace piracema::testing {

namespace {

/// Of what is stopped, cut off or lies.
constexpr Time fault_time = std::chrono::seconds(2);

bool is(const std::string& kind, const char* what) { return kind.starts_with(what); }

}  // namespace

std::vector<std::string> Faults::kinds() const {
  std::vector<std::string> kinds = {"none", "leave", "transfer", "replace-dead"};
  for (const char* what : {"kill", "stop", "cut", "disk", "replace"}) {
    if (what == std::string("cut") && !place_.lan->has_cables()) continue;
    for (const char* who : {"-follower", "-leader"}) kinds.push_back(concat(what, who));
  }
  if (place_.byzantine) kinds.insert(kinds.end(), {"lie-follower", "lie-leader"});
  return kinds;
}

bool Faults::can_happen(const std::string& kind) const {
  const auto victims = victims_of(kind);
  return !victims || !victims->empty();
}

Result<Done> Faults::happen(const std::string& kind) {
  const auto victims = victims_of(kind);
  if (!victims) return victims.error();
  if (victims->empty()) return Done{};  // The leader has just changed.
  const std::uint32_t victim = victims->at(random_.below(victims->size()));
  if (auto done = happen_to(kind, victim); !done) return done;
  if (auto done = place_.replicas->settle(patience_to_catch_up); !done) return done;
  if (auto done = serves(1); !done) return done;
  const auto gone = place_.replicas->ended();
  if (gone.empty()) return Done{};
  return Error{Errc::failed, concat("replica ", gone[0], " has ended by itself")};
}

Result<std::vector<std::uint32_t>> Faults::victims_of(const std::string& kind) const {
  const auto leader = place_.replicas->leader(patience);
  if (!leader) return leader.error();
  const bool wants_leader = kind.ends_with("-leader");
  auto victims = place_.replicas->members();
  std::erase_if(victims, [&](std::uint32_t one) {
    const bool has_to_stay =
        is(kind, "replace") && !place_.replaces_founders && place_.replicas->is_needed_founder(one);
    return has_to_stay || (one == *leader) != wants_leader;
  });
  return victims;
}

Result<Done> Faults::happen_to(const std::string& kind, std::uint32_t victim) {
  Replicas& replicas = *place_.replicas;
  if (kind == "lose-all") {
    if (auto done = serves(100); !done) return done;
    if (auto done = replicas.begin_anew(); !done) return done;
    return serves(100);
  }
  const auto then = [](const Result<Done>& done, const std::function<Result<Done>()>& next) {
    return done ? next() : done;
  };
  const auto start_again = [&] { return replicas.start_again(victim); };
  if (is(kind, "stop")) {
    replicas.stop(victim);
    const auto done = lasts(fault_time);
    replicas.go_on(victim);
    return done;
  }
  if (is(kind, "cut")) {
    if (!place_.cables->cut(victim)) return Error{Errc::failed, "the cable cannot be pulled out"};
    const auto done = lasts(fault_time);
    if (!place_.cables->mend(victim)) return Error{Errc::failed, "the cable cannot be put back"};
    return done;
  }
  if (is(kind, "replace") && kind != "replace-dead") return replicas.replace(victim);
  if (is(kind, "leave")) place_.clients->change_some();
  if (is(kind, "leave") || is(kind, "none")) return lasts(fault_time);

  replicas.kill(victim);
  if (is(kind, "kill")) return then(serves(20), start_again);
  if (kind == "transfer") return then(misses_checkpoints(), start_again);
  if (kind == "replace-dead") {
    return then(serves(20), [&] { return replicas.replace(victim); });
  }
  if (is(kind, "disk")) {
    replicas.lose_disk(victim);
    return then(serves(20), start_again);
  }
  if (auto lies = replicas.start_liar(victim); !lies) return lies;
  const auto done = lasts(fault_time);
  // What it has written down may be a lie as well.
  replicas.kill(victim);
  replicas.lose_disk(victim);
  return then(done, start_again);
}

Result<Done> Faults::serves(std::uint64_t answers) const {
  if (place_.service->wait_for(answers, patience)) return Done{};
  return Error{Errc::timeout,
               concat("less than ", answers, " answers in ", patience.count(), " s")};
}

Result<Done> Faults::lasts(Time time) const {
  // The fault is that it takes so long.
  std::this_thread::sleep_for(time);
  return serves(1);
}

// Until the log of the others begins behind what it has.
Result<Done> Faults::misses_checkpoints() const {
  const std::uint64_t wanted = place_.replicas->decided() + 3 * place_.checkpoint_every;
  while (place_.replicas->decided() < wanted) {
    if (auto done = serves(place_.checkpoint_every / 4); !done) return done;
  }
  return Done{};
}

}  // namespace piracema::testing
