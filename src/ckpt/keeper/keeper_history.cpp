#include "ckpt/keeper/keeper_history.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/text.h"

namespace piracema::ckpt {

namespace {

using DumpOutcome = KeeperFigures::Outcome;

// Whoever shows them has a bound for what it is sent.
constexpr std::size_t words_max = 64, hosts_shown_max = 250;
constexpr std::size_t text_bytes_max = 500, name_bytes_max = 100;

std::string cut(const std::string& text) { return text.substr(0, text_bytes_max); }

std::vector<std::string> cut_all(const std::vector<std::string>& texts, std::size_t most,
                                 std::size_t bytes) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < std::min(texts.size(), most); ++i) {
    all.push_back(texts[i].substr(0, bytes));
  }
  return all;
}

std::string end_text(const Finish& finish) {
  switch (finish.end) {
    case End::job_ended:
      return WIFSIGNALED(finish.status)
                 ? concat("the job was ended by signal ", WTERMSIG(finish.status))
                 : concat("the job has ended with status ", WEXITSTATUS(finish.status));
    case End::stopped:
      return "stopped: " + finish.why;
    default:
      return finish.why;
  }
}

template <class T>
void keep_newest(std::vector<T>& all, std::size_t most) {
  if (all.size() > most) all.erase(all.begin());
}

}  // namespace

KeeperHistory::KeeperHistory(const JobFile& job, std::string directory,
                             const KeeperSettings& settings, std::string closes_why, Time now)
    : usual_close_(std::move(closes_why)), now_(now) {
  figures_.command = cut_all(job.command, words_max, text_bytes_max);
  figures_.directory = std::move(directory);
  figures_.hosts = cut_all(job.hosts, hosts_shown_max, name_bytes_max);
  if (figures_.hosts.empty()) figures_.hosts.push_back(job.host_name);
  figures_.process = static_cast<std::uint32_t>(::getpid());
  figures_.began = figures_.state_since = now;
  figures_.every = settings.every;
}

void KeeperHistory::began(Time now, const Keeper& keeper,
                          const std::vector<KeeperAction>& actions) {
  now_ = now;
  follow(keeper, actions);
}

void KeeperHistory::heard(Time now, const Keeper& keeper, const KeeperEvent& event,
                          const std::vector<KeeperAction>& actions) {
  now_ = now;
  std::visit(
      [&](const auto& one) {
        using Event = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<Event, Dumped>) {
          on(one, keeper.tries_again());
        } else {
          on(one);
        }
      },
      event);
  follow(keeper, actions);
}

void KeeperHistory::follow(const Keeper& keeper, const std::vector<KeeperAction>& actions) {
  for (const KeeperAction& action : actions) {
    std::visit(
        [this](const auto& one) {
          using Action = std::decay_t<decltype(one)>;
          if constexpr (std::is_same_v<Action, Remark>) {
            trouble(one.text);
          } else {
            on(one);
          }
        },
        action);
  }
  if (keeper.state() == figures_.state) return;
  figures_.state = keeper.state();
  figures_.state_since = now_;
  if (!keeper.in_capsule()) figures_.resident = figures_.swapped = figures_.processes = 0;
}

void KeeperHistory::trouble(const std::string& text) {
  figures_.troubles.push_back({now_, cut(text)});
  keep_newest(figures_.troubles, troubles_kept);
}

void KeeperHistory::on(const CapsuleReady& event) {
  if (event.ok) figures_.paused = false;
}

void KeeperHistory::on(const Launched& event) {
  (event.ok ? figures_.launched : figures_.launches_failed) += 1;
  if (event.ok) figures_.image = event.image;
}

void KeeperHistory::on(const WindowOpened& event) {
  figures_.opens.reset();
  figures_.opened = now_;
  figures_.closes = event.closes;
  figures_.closes_why = usual_close_;
}

// One that closes sooner already goes on to.
void KeeperHistory::on(const LeaveAsked& event) {
  if (figures_.closes && *figures_.closes <= event.closes) return;
  figures_.closes = event.closes;
  figures_.closes_why = "the machine was asked for";
}

void KeeperHistory::on(const Forecast& event) {
  figures_.planned = event.duration;
  figures_.ending = event.ending;
}

KeeperFigures::Checkpoint* KeeperHistory::under_way() {
  auto& all = figures_.checkpoints;
  return !all.empty() && all.back().outcome == DumpOutcome::under_way ? &all.back() : nullptr;
}

void KeeperHistory::on(const Dump& action) {
  if (auto* const one = again_ ? under_way() : nullptr) {
    one->tries += 1;
    one->stops = action.stop;
  } else {
    end_dump(DumpOutcome::failed, "nothing is known of it");
    figures_.checkpoints.push_back(
        {.at = now_,
         .stops = action.stop,
         .forecast = figures_.forecast.value_or(KeeperFigures::Forecast{})});
    keep_newest(figures_.checkpoints, checkpoints_kept);
  }
  again_ = false;
}

void KeeperHistory::on(const Dumped& event, bool again) {
  auto* const one = under_way();
  if (one == nullptr) return;
  again_ = again;
  if (again) {
    one->why = cut(event.why);
    return;
  }
  if (!event.ok) return end_dump(DumpOutcome::failed, event.why);
  const SavedImage& saved = event.saved;
  one->image = saved.image;
  one->bytes = saved.bytes;
  one->took = saved.took;
  one->frozen = saved.frozen;
  // What was forecast is what the store takes.
  if (saved.local) one->forecast = {};
  end_dump(DumpOutcome::saved, {});
}

void KeeperHistory::end_dump(DumpOutcome outcome, const std::string& why) {
  auto* const one = under_way();
  if (one == nullptr) return;
  one->outcome = outcome;
  one->why = cut(why);
  again_ = false;
  if (outcome != DumpOutcome::saved) {
    (outcome == DumpOutcome::failed ? figures_.failed : figures_.given_up) += 1;
    one->took = now_ - one->at;
    return;
  }
  figures_.saved += 1;
  figures_.saved_took += one->took;
  figures_.saved_bytes += one->bytes;
  if (one->forecast.p50 <= 0) return;  // Nothing was said of it.
  if (to_seconds(one->took) > one->forecast.p50) figures_.over_p50 += 1;
  if (to_seconds(one->took) > one->forecast.p95) figures_.over_p95 += 1;
}

void KeeperHistory::on(const HandedBack& action) {
  (action.saved ? figures_.left_saved : figures_.left_unsaved) += 1;
  if (!action.saved) {
    end_dump(DumpOutcome::given_up, "the window has closed");
    trouble(action.why);
  }
  figures_.opened.reset();
  figures_.closes.reset();
  figures_.closes_why.clear();
}

void KeeperHistory::on(const Finish& action) {
  end_dump(DumpOutcome::failed, end_text(action));
  figures_.end = cut(end_text(action));
  if (action.end == End::failed || action.end == End::lost) trouble(action.why);
}

void KeeperHistory::looked(const JobMemory& memory, const Outlook& outlook) {
  figures_.learnt = outlook.learnt;
  figures_.sampling = outlook.sampling;
  figures_.resident = memory.resident;
  figures_.swapped = memory.swapped;
  // Ours are the first one of each capsule, and on all hosts but the first one a door.
  const std::uint64_t ours = 2 * figures_.hosts.size() - 1;
  figures_.processes = memory.processes - std::min(memory.processes, ours);
  figures_.forecast.reset();
  // Nothing is forecast for a job of which nothing is known.
  if (figures_.processes == 0) return;
  figures_.forecast = {outlook.forecast.p50, outlook.forecast.p95, outlook.forecast.p99};
}

KeeperFigures KeeperHistory::figures(Time now, const Keeper& keeper) const {
  KeeperFigures all = figures_;
  all.at = now;
  all.closes = keeper.closes();
  if (keeper.in_capsule()) all.stop_at = keeper.stop_at();
  all.save_at = keeper.save_at();
  return all;
}

}  // namespace piracema::ckpt
