#include "ckpt/keeper/keeper_loop.h"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/parse.h"
#include "base/text.h"

namespace piracema::ckpt {

namespace {

constexpr std::int64_t leave_ms_max = 86'400'000;

/// Before its guard would do it a keeper hands the machine back itself.
constexpr Time keeper_first = std::chrono::milliseconds(100);

}  // namespace

KeeperLoop::KeeperLoop(std::unique_ptr<JobDirectory> directory, JobFile job, RunSettings settings)
    : directory_(std::move(directory)),
      job_(std::move(job)),
      settings_(std::move(settings)),
      images_(*directory_),
      commands_(settings_.commands, settings_.keeper, job_, *directory_),
      keeper_(settings_.keeper),
      history_(job_, directory_->path(), settings_.keeper, settings_.window_from, now()) {}

KeeperLoop::~KeeperLoop() {
  if (place_) place_->kill();
}

void KeeperLoop::note(const std::string& text) const {
  if (!settings_.quiet) log(Level::info, text);
}

// Those that fork come first, while there is nothing that a fork could hold.
Result<Done> KeeperLoop::begin() {
  auto place = Workplace::start(
      poller_, *directory_, job_, settings_.place, [this](const Report& report) { hear(report); },
      [this](const std::string& why) { tell(CapsuleDied{why}); });
  if (!place) return place.error();
  place_ = *std::move(place);
  auto store = StoreWatch::start(poller_, directory_->path(),
                                 std::max<std::size_t>(1, settings_.place.several.hosts.size()),
                                 settings_.compress);
  if (!store) return store.error();
  store_ = *std::move(store);
  std::vector<int> numbers = {SIGINT, SIGTERM, SIGHUP};
  if (settings_.warned) numbers.push_back(SIGUSR1);
  if (settings_.suspends) numbers.insert(numbers.end(), {SIGTSTP, SIGCONT});
  auto signals = SignalWatch::open(poller_, numbers, [this](int number) { signalled(number); });
  if (!signals) return signals.error();
  signals_ = *std::move(signals);
  auto output =
      JobOutput::open(poller_, *directory_, job_.one_output, !settings_.place.several.hosts.empty(),
                      [this](bool enough) { heard_of_room(enough); });
  if (!output) return output.error();
  output_ = *std::move(output);
  LocalImages* const local = settings_.local.get();
  restart_.emplace(*directory_, job_, images_, local, *output_, *place_);
  saving_.emplace(*directory_, job_, images_, *store_, local, settings_.keep, settings_.compress);
  if (local != nullptr) {
    open_copies(*local);
  } else if (auto removed = directory_->remove_copies(); !removed) {
    return removed;
  }
  auto door =
      ControlDoor::open(poller_, directory_->socket_path(),
                        [this](Caller caller, const std::string& word) { asked(caller, word); });
  if (!door) return door.error();
  door_ = *std::move(door);
  open_window_watch();
  if (settings_.figures) open_display();
  return Done{};
}

void KeeperLoop::open_copies(LocalImages& local) {
  copies_.emplace(
      poller_, CopiesElsewhere::Settings{settings_.place.program, settings_.partner, settings_.rsh},
      job_, local, *directory_,
      CopiesElsewhere::Calls{
          .find_room = [this](std::uint64_t bytes) { return saving_->find_room_in_store(bytes); },
          .in_store =
              [this] {
                prune_is_due_ = true;
                if (!keeper_.dumping()) prune();
              },
          .note = [this](const std::string& text) { note(text); }});
}

void KeeperLoop::open_display() {
  display_.emplace(poller_, keeper_, history_,
                   FiguresDisplay::Calls{.look =
                                             [this] {
                                               const JobMemory memory = place_->memory();
                                               return std::pair{memory, store_->outlook(memory)};
                                             },
                                         .show = settings_.figures});
}

void KeeperLoop::open_window_watch() {
  window_.emplace(
      poller_, settings_.window, settings_.risk, *store_, *place_,
      WindowWatch::Calls{
          .opened =
              [this](Time closes) {
                place_->guard_until(closes - ending_takes_);
                tell(WindowOpened{closes});
              },
          .none_follows =
              [this] {
                finish_ = Finish{End::stopped, 0, "no window follows"};
              },
          .waits =
              [this](Time opens) {
                history_.waits(opens);
                const std::chrono::duration<double> left = opens - now();
                note(concat("waits for its window, which opens in ", human_seconds(left.count())));
              },
          .forecast = [this](Time duration, Time ending) { foretold(duration, ending); },
          .is_in_use = [this] { return keeper_.in_capsule(); }});
}

Result<Finish> KeeperLoop::run() {
  if (auto begun = begin(); !begun) return begun.error();
  const auto first = keeper_.begin(now());
  history_.began(now(), keeper_, first);
  handle(first);
  set_timer();
  if (display_) display_->begin();
  if (settings_.window) window_->look();
  while (!finish_) poller_.run_once(std::chrono::milliseconds(-1));
  output_->give_room_back();
  while (!output_->drain() && !gives_output_up_) poller_.run_once(std::chrono::milliseconds(-1));
  if (gives_output_up_) {
    log(Level::warning,
        concat("not all of its output was passed on; it is in ", directory_->path()));
  }
  leave_local_images(*finish_);
  return *finish_;
}

void KeeperLoop::signalled(int number) {
  if (number == SIGTSTP || number == SIGCONT) return tell(Suspended{number == SIGTSTP});
  if (finish_) gives_output_up_ = true;
  if (number != SIGUSR1 || settings_.warned()) tell(Interrupted{});
}

void KeeperLoop::act(const Pause& pause) {
  is_suspended_ = pause.still;
  note(is_suspended_ ? "the job stands still, as it was told to" : "the job goes on");
  hold();
}

// A place that has died says so itself.
void KeeperLoop::hold() {
  const bool still = is_out_of_room_ || is_suspended_;
  if (still == is_paused_) return;
  if (place_->send({.kind = OrderKind::pause, .ok = still})) is_paused_ = still;
}

// A job whose output cannot be written would fail, though nothing is wrong with it: it stands still
// until there is room.
void KeeperLoop::heard_of_room(bool enough) {
  if (enough != is_out_of_room_ || !keeper_.in_capsule()) return;
  is_out_of_room_ = !enough;
  hold();
  history_.paused(is_out_of_room_);
  const std::string& path = directory_->path();
  log(Level::warning,
      enough ? concat(path, ": there is room again: the job goes on")
             : concat(path, ": no space is left for the job's output: want ",
                      human_bytes(static_cast<double>(OutputTail::room_kept)),
                      " for each of stdout and stderr; it stands still until there is so much"));
}

// A forecast comes each second, and shows nothing by itself.
void KeeperLoop::tell(const KeeperEvent& event) {
  const Time at = now();
  const auto actions = keeper_.step(at, event);
  const auto is_dump = [](const auto& one) { return std::holds_alternative<Dump>(one); };
  if (display_ && std::ranges::any_of(actions, is_dump)) display_->know_forecast();
  history_.heard(at, keeper_, event, actions);
  handle(actions);
  if (!finish_) set_timer();
  if (!std::holds_alternative<Forecast>(event)) show();
}

void KeeperLoop::show() {
  if (display_) display_->show();
}

void KeeperLoop::handle(const std::vector<KeeperAction>& actions) {
  for (const KeeperAction& action : actions) {
    std::visit([this](const auto& a) { act(a); }, action);
  }
}

void KeeperLoop::set_timer() {
  if (timer_) poller_.cancel(*timer_);
  timer_.reset();
  const auto due = keeper_.wake();
  if (!due) return;
  timer_ = poller_.at(*due, [this] {
    timer_.reset();
    tell(Tick{});
  });
}

// What an action comes to at once is told later: not from within the keeper's own step.
void KeeperLoop::act(const OpenCapsule&) {
  is_paused_ = is_out_of_room_ = is_suspended_ = false;
  if (auto opened = place_->open(); !opened) {
    poller_.post([this, why = opened.error().message] { tell(CapsuleReady{false, why}); });
  }
}

void KeeperLoop::act(const KillCapsule&) {
  place_->kill();
  output_->drain();
}

void KeeperLoop::act(const Launch& launch) {
  // To check an image takes as long as to read it.
  show();
  const auto launched = restart_->launch(launch.attempt);
  if (launched) return;
  poller_.post([this, more = restart_->has_more(), why = launched.error().message] {
    tell(Launched{false, more, why});
  });
}

void KeeperLoop::act(const Dump& dump) {
  at_good_moment_ = dump.at_good_moment;
  // Images that follow each other at once would fill the store; the last one waits for nothing.
  if (prune_is_due_ && !dump.stop) prune();
  // It may become complete and be told to have failed, where the job ends at that moment.
  prune_is_due_ = true;
  // Before: it lets a job go on that stood still for lack of it.
  (void)output_->has_room();
  const auto sent = save(dump);
  if (sent) return;
  saving_->fail();
  if (copies_) copies_->leave_store_alone(false);
  poller_.post([this, why = sent.error().message] { tell(Dumped{false, why, {}}); });
}

void KeeperLoop::act(const RunCommand& run) {
  const auto sent = place_->send(commands_.begin(run.kind));
  if (!sent) poller_.post([this, why = sent.error().message] { tell(CommandEnded{false, why}); });
}

void KeeperLoop::act(const AskForMoment& ask) {
  if (ask.wanted) {
    const double most = to_seconds(settings_.keeper.before_save.moment.value_or(Time{}));
    note(concat("an image waits for a good moment of the program, ", human_seconds(most),
                " at most"));
  }
  // A place that has died says so itself.
  (void)place_->send({.kind = OrderKind::want, .ok = ask.wanted, .failed = ask.failed});
}

Result<Done> KeeperLoop::save(const Dump& dump) {
  std::optional<Time> left;
  if (keeper_.closes()) left = *keeper_.closes() - ending_takes_ - now();
  auto order = saving_->begin(dump.stop, place_->memory(), place_->image_bytes(),
                              is_saved_locally(dump.stop, left, stopping_takes_));
  if (!order) return order.error();
  // Two that write there at once are both slower, and this one is newer.
  if (copies_ && !saving_->is_local()) copies_->leave_store_alone(true);
  return place_->send(*std::move(order));
}

void KeeperLoop::look_at_copies() {
  if (copies_ && keeper_.in_capsule()) copies_->look();
}

// A machine that is wanted back is not kept; else the job's last image gets where others find it.
void KeeperLoop::leave_local_images(const Finish& finish) {
  if (!copies_) return;
  const bool has_ended_well = finish.end == End::job_ended && finish.status == 0;
  if (!has_ended_well && finish.end != End::interrupted && !settings_.window) {
    copies_->get_newest_to_store();
    while (copies_->is_getting_to_store() && !gives_output_up_)
      poller_.run_once(std::chrono::milliseconds(-1));
  }
  copies_->end(has_ended_well);
}

void KeeperLoop::act(const Answer& answer) { door_->answer(answer.caller, answer.ok, answer.text); }

void KeeperLoop::act(const HandedBack& back) {
  note(concat("the machine is handed back; ", back.why));
  if (!back.saved) saving_->give_up();
  if (copies_) copies_->stop();
  if (settings_.window)
    poller_.post([this] {
      if (!finish_) window_->look();
    });
}

void KeeperLoop::act(const Finish& finish) {
  if (prune_is_due_ && !keeper_.dumping()) prune();
  finish_ = finish;
}

void KeeperLoop::act(const Remark& remark) { log(Level::warning, remark.text); }

void KeeperLoop::hear(const Report& report) {
  switch (report.kind) {
    case ReportKind::ready:
      return tell(CapsuleReady{report.ok, report.message});
    case ReportKind::started:
      if (report.ok && restart_->image()) {
        note(concat("goes on from image ", *restart_->image(),
                    restart_->is_local() ? ", on this node's disk" : ""));
      }
      // It was checked before, so it is the launch that has failed.
      tell(Launched{report.ok, restart_->has_more(), report.message, restart_->image().has_value(),
                    restart_->image()});
      return look_at_copies();
    case ReportKind::dumped:
      return dumped(report);
    case ReportKind::ended:
      if (!report.message.empty()) note(report.message);
      return tell(JobEnded{static_cast<int>(report.status)});
    case ReportKind::good_moment:
      return tell(MomentSaid{});
    case ReportKind::command_ended:
      return tell(commands_.ended(report));
    default:
      return;  // Of one of several hosts, which Hosts has heard.
  }
}

void KeeperLoop::dumped(const Report& report) {
  if (copies_) copies_->leave_store_alone(false);
  if (!report.ok) {
    saving_->fail();
    bool passing = report.passing;
    if (!passing && saving_->goes_to_store_next(report.message)) {
      passing = true;
      log(Level::warning,
          concat("not saved on this node's disk: ", report.message, "; it goes to the store"));
    }
    tell(Dumped{false, report.message, {}, passing});
    return look_at_copies();
  }
  const SavedImage saved = saving_->end(report);
  const std::string what = text_of(saved) + (at_good_moment_ ? ", at a good moment" : "");
  // For what it has taught.
  if (display_) display_->look_soon();
  note("saved: " + what);
  // Whoever waits is not kept waiting for it. Where the next image is due at once, it goes first.
  prune_is_due_ = true;
  tell(Dumped{true, {}, what, false, saved});
  if (prune_is_due_ && !keeper_.dumping()) prune();
  look_at_copies();
}

// Not while one is made: what belongs to no image that is complete goes, too.
void KeeperLoop::prune() {
  prune_is_due_ = false;
  saving_->prune();
}

void KeeperLoop::asked(Caller caller, const std::string& word) {
  if (word == "save") return tell(SaveAsked{caller});
  if (word == "stop") return tell(StopAsked{caller});
  if (word.starts_with("leave ")) return asked_to_leave(caller, word.substr(6));
  if (word == "outlook") {
    return door_->answer(caller, true, encode_outlook(store_->outlook(place_->memory())));
  }
  door_->answer(caller, false, "want save, stop, leave or outlook");
}

// In milliseconds from now.
void KeeperLoop::asked_to_leave(Caller caller, const std::string& within) {
  const auto ms = parse_number<std::int64_t>(within);
  if (!ms || *ms < 0 || *ms > leave_ms_max) {
    return door_->answer(caller, false, "want leave and milliseconds");
  }
  door_->answer(caller, true, {});
  window_->leave_by(now() + std::chrono::milliseconds(*ms));
  tell(LeaveAsked{window_->closes()});
  place_->guard_until(window_->closes() - ending_takes_);
}

// The guard kills what this process has not killed by then, and that takes as long.
void KeeperLoop::foretold(Time duration, Time ending) {
  stopping_takes_ = duration;
  ending_takes_ = ending;
  tell(Forecast{duration, ending + keeper_first});
  if (window_->closes() != Time{}) place_->guard_until(window_->closes() - ending);
}

}  // namespace piracema::ckpt
