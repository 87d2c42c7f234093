#include "council/council.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "council/group_configuration.h"
#include "host/coordinator_file.h"
#include "os/exit_code.h"
#include "store/disk/file_lock.h"
#include "store/open_store.h"

namespace piracema::council {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds look_every{250};
// For the group to be without one whose seat was given away; until then it counts there.
constexpr milliseconds group_follows_within{30'000};

std::uint64_t wall_ms() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
}

std::string lock_path(const std::string& snapshots) { return snapshots + "/piracema.lock"; }

cluster::JobReport ended(int code, std::string why) {
  cluster::JobReport report;
  report.code = code;
  report.why = std::move(why);
  return report;
}

}  // namespace

Result<std::unique_ptr<Council>> Council::open(const cluster::JobOptions& job,
                                               const std::vector<std::string>& words) {
  auto seat = take_seat(job.hosts);
  if (!seat) return seat.error();
  std::error_code failed;
  std::string directory;
  if (!store::is_address(job.snapshots)) {
    directory = std::filesystem::absolute(job.snapshots, failed).string();
  }
  if (failed) return Error{Errc::config, concat(job.snapshots, ": ", failed.message())};
  std::unique_ptr<Council> council(new Council(*std::move(seat), directory));
  if (auto started = council->start(job, words); !started) return started.error();
  return council;
}

Council::Council(Seat seat, std::string snapshots)
    : seat_(std::move(seat)),
      snapshots_(std::move(snapshots)),
      signals_(poller_, [this](int number) { signalled(number); }),
      state_(seat_.first) {}

Result<Done> Council::start(const cluster::JobOptions& job, const std::vector<std::string>& words) {
  auto replica = OwnReplica::open(seat_, state_,
                                  {.leads =
                                       [this](std::uint64_t term) {
                                         leads_ = term + 1;
                                         poller_.post([] {});
                                       },
                                   .leads_no_longer =
                                       [this] {
                                         leads_ = 0;
                                         line_->let_go();
                                         at_work_.depose();
                                       },
                                   .applied = [this] { applied(); },
                                   .ended =
                                       [this](const Result<Done>& done) {
                                         // By itself, and well, when the group is without it.
                                         poller_.post([this, done] {
                                           if (!done) failure_ = done.error();
                                           if (done) replaced();
                                         });
                                         at_work_.depose();
                                       }});
  if (!replica) return replica.error();
  replica_ = *std::move(replica);
  line_ = std::make_unique<GroupLine>(*replica_);
  replica_->begin();
  replacer_ = std::make_unique<Replacer>(
      seat_, Replacer::Job{.words = words, .hosts = job.hosts, .key_file = replica_->key_file()},
      state_, *replica_, at_work_, leads_);
  // One that comes later has nobody to tell until it is a member.
  if (seat_.own().id < seat_.first.size()) hear_signals();
  return Done{};
}

Council::~Council() {
  replacer_.reset();
  signal_line_.reset();
  replica_.reset();
}

// Signals that others were given are whose who leads. On the replica's thread.
void Council::applied() {
  const Standing standing = state_.standing();
  // Its replica may have led on in a next view, and not know that another one led in between.
  const bool has_claimed = standing.leader.member == seat_.own().id;
  if (std::exchange(has_claimed_, has_claimed) && !has_claimed) at_work_.depose();
  for (; signals_seen_ < standing.signals.size(); ++signals_seen_) {
    if (leads_ == 0) continue;
    at_work_.signal(static_cast<int>(standing.signals[signals_seen_].number));
  }
  if (standing.over || standing.begun != begun_) poller_.post([] {});
  begun_ = standing.begun;
}

cluster::JobReport Council::run(const cluster::JobOptions& options,
                                cluster::JobObserver& observer) {
  keep_ = options.keep_workers;
  majority_.was_busy(now());
  while (!ended_) {
    look();
    if (ended_) break;
    if (leads_ != 0) {
      lead(options, observer);
    } else {
      poller_.run_once(look_every);
    }
  }
  return *std::move(ended_);
}

// What this one does while it does not lead.
void Council::look() {
  const Time time = now();
  majority_.look(time);
  if (failure_) {
    ended_ = ended(3, concat("coordinator ", number(), ": ", failure_->message));
    return;
  }
  const Standing standing = state_.standing();
  if (standing.over) {
    was_told_ = true;
    ended_ = ended(static_cast<int>(standing.over->code), "");
    return;
  }
  if (!standing.has(seat_.own().id) && standing.next_id > seat_.own().id) return has_no_seat();
  if (standing.begun) share_lock();
  ping();
  if (majority_.open_for(time) < operation_timeout) return;
  // Those who could tell that it is over may be gone.
  look_into_file();
  if (!leader_) ask_who_leads();
  if (ended_) return;
  if (!std::exchange(warned_, true)) {
    log(Level::warning, concat("coordinator ", number(), " of ", count(),
                               ": no majority of the coordinators answers, so nothing is decided "
                               "until one does, for ",
                               keep_.count(), " ms at most; workers go on meanwhile"));
  }
  if (majority_.open_for(time) < keep_) return;
  ended_ = ended(4, concat("no majority of the ", count(), " coordinators has answered for ",
                           human_seconds(std::chrono::duration<double>(keep_).count()),
                           "; go on with --resume once the workers have ended"));
}

void Council::ping() {
  if (!majority_.asks(now())) return;
  const Buffer operation = encode(Operation(Ping{seat_.own().id}));
  replica_->invoke_ordered(operation, [this](const Result<Buffer>& said) {
    if (!said) return;
    const auto answer = decode_answer(*said);
    poller_.post([this, is_member = answer && answer->verdict == Verdict::done] {
      if (!is_member) return has_no_seat();
      majority_.answered();
      leader_.reset();
      hear_signals();
      if (std::exchange(warned_, false)) {
        log(Level::warning, concat("coordinator ", number(), " of ", count(),
                                   ": a majority of the coordinators answers again"));
      }
    });
  });
}

void Council::lead(const cluster::JobOptions& options, cluster::JobObserver& observer) {
  const std::uint64_t term = leads_;
  if (term == 0) return;
  lead_ = {term, term == lead_.term ? lead_.claim + 1 : 1};
  const auto claimed =
      line_->ask(Claim{lead_, seat_.own().id, static_cast<std::uint64_t>(::getpid()), wall_ms()});
  // This process was not stopped meanwhile: one that leads and is alone would wait for ever.
  majority_.was_busy(now());
  // Where no majority answers what has come meanwhile is looked at, and it is asked again.
  if (!claimed) {
    for (const Time until = now() + look_every; !ended_ && now() < until;) {
      poller_.run_once(std::chrono::ceil<milliseconds>(until - now()));
    }
    return;
  }
  if (claimed->verdict != Verdict::done) return poller_.run_once(milliseconds(10));
  majority_.answered();
  leader_.reset();

  cluster::Leading leading{
      .log =
          [this](const std::string& snapshots, const std::string& token, milliseconds keep) {
            // Ours first, which is where it leads now.
            const auto doors = [this] {
              const std::vector<Member> members = state_.standing().members;
              std::vector<std::string> all;
              for (std::size_t next = 0; next < members.size(); ++next) {
                all.push_back(members[(seat_.number + next) % members.size()].door);
              }
              return all;
            };
            return std::make_unique<GroupLog>(*line_, lead_, doors, snapshots, token, keep);
          },
      .token = seat_.token,
      .host = seat_.host,
      .port = seat_.door.number,
      .was_brought = seat_.was_brought,
      .left = {},
      .at_work = &at_work_,
      .handed_on =
          [this](const cluster::HandedOnSignal& signal) {
            told({signal.number, signal.id});
          },
      .lock = &lock_};
  cluster::JobOptions mine = options;
  mine.leading = &leading;
  if (claimed->left) {
    auto metadata = cluster::JobMetadata::decode(claimed->left->metadata);
    if (!metadata) {
      ended_ = ended(3, concat("coordinator ", number(), ": ", metadata.error().message));
      return;
    }
    const auto signals = state_.standing().signals;
    if (!signals.empty() && !metadata->stop_requested) {
      at_work_.signal(static_cast<int>(signals.back().number));
    }
    leading.left = cluster::JobRecord::Found{*std::move(metadata), claimed->left->token,
                                             milliseconds(claimed->left->keep_ms),
                                             std::chrono::system_clock::now()};
    // What was to be killed to see what happens was, or its coordinator with it.
    mine.kills.clear();
  }
  observer.leads(number(), count(), claimed->left.has_value());
  auto report = cluster::run_job(mine, observer);
  majority_.was_busy(now());
  if (!leading.may_try_again) store_silent_since_.reset();
  if (leading.deposed) {
    observer.follows(number(), count());
    return;
  }
  if (leading.may_try_again && waits_for_store(report)) return;
  led_ = !leading.failed;
  ended_ = std::move(report);
}

// Where snapshots are does not answer, and that may pass: as long as workers wait it is tried
// again.
bool Council::waits_for_store(const cluster::JobReport& report) {
  if (!store_silent_since_) {
    store_silent_since_ = now();
    log(Level::warning,
        concat("coordinator ", number(), " of ", count(),
               " cannot take the job over yet, and tries again for ",
               human_seconds(std::chrono::duration<double>(keep_).count()), ": ", report.why));
  }
  return now() - *store_silent_since_ < keep_;
}

// Others want to know who has the directory, and a job of theirs to be kept out, also when the one
// that has begun this job is gone.
void Council::share_lock() {
  if (lock_ || snapshots_.empty()) return;
  if (auto shared = store::lock_file_with_others(lock_path(snapshots_), "job")) {
    lock_ = *std::move(shared);
  }
}

void Council::look_into_file() {
  if (!state_.standing().begun || snapshots_.empty()) return;
  const std::string& door = seat_.own().door;
  const auto doors =
      cluster::find_coordinators(cluster::coordinator_file(snapshots_), seat_.token, {door});
  if (doors.empty()) {
    was_told_ = true;
    const auto code = cluster::code_in_coordinator_file(cluster::coordinator_file(snapshots_));
    ended_ = code ? ended(*code, "the job is over")
                  : ended(4, concat(snapshots_, " is another job's by now"));
  } else if (std::find(doors.begin(), doors.end(), door) == doors.end()) {
    replaced();
  }
}

// The group has nothing to say to one that is no member any more. Whoever leads has.
void Council::ask_who_leads() {
  std::vector<std::string> others;
  for (const Member& member : state_.standing().members) {
    if (member.door != seat_.own().door) others.push_back(member.door);
  }
  const auto over = [this](int code) {
    if (ended_) return;
    was_told_ = true;
    ended_ = ended(code, "");
  };
  const auto are = [this](const std::vector<std::string>& doors) {
    const bool is_one = std::find(doors.begin(), doors.end(), seat_.own().door) != doors.end();
    if (!doors.empty() && !is_one) replaced();
  };
  leader_ = std::make_unique<LeaderLine>(poller_, seat_.token, std::move(others),
                                         LeaderLine::Events{.over = over, .are = are});
}

// Its replica ends once the group is without it. Before, one more that is lost could be one too
// many.
void Council::has_no_seat() {
  if (!without_seat_since_) without_seat_since_ = now();
  if (now() - *without_seat_since_ >= group_follows_within) replaced();
}

// It was silent for too long, or is to leave its host, and the others are enough without it.
void Council::replaced() {
  if (ended_) return;
  log(Level::warning, concat("coordinator ", number(), " of ", count(),
                             ": another one has its place by now, so it ends"));
  ended_ = ended(0, "");
}

// This one does not lead: the one that does is told. Who asks again and is not heard ends alone.
void Council::signalled(int number) {
  if (number == SIGCHLD) return;
  const auto meaning = stop_signals_.take(number, now());
  if (meaning == cluster::StopSignals::Meaning::nothing_new) return;
  if (meaning == cluster::StopSignals::Meaning::end_at_once &&
      (majority_.is_open() || !state_.standing().begun)) {
    ended_ = ended(exit_code_of_signal(number), "ended at once by a signal");
    return;
  }
  // The command counts its own from 1.
  order({static_cast<std::uint32_t>(number),
         (std::uint64_t{seat_.own().id} + 1) << 32 | ++signals_taken_});
}

void Council::order(const Signalled& signalled) {
  replica_->invoke_ordered(encode(Operation(signalled)), [](const Result<Buffer>&) {});
}

void Council::hear_signals() {
  if (signal_line_ || !seat_.orders) return;
  signal_line_ = std::make_unique<SignalLine>(
      std::move(seat_.orders), [this](const Signalled& signalled) { told(signalled); });
}

// All that can hear it are told, and one of them is enough: who leads hears of it from the group.
// On the thread of the line, or where this one leads.
void Council::told(const Signalled& signalled) {
  order(signalled);
  poller_.post([this, number = static_cast<int>(signalled.number)] {
    const auto meaning = stop_signals_.take(number, now());
    if (meaning != cluster::StopSignals::Meaning::end_at_once || leads_ != 0) return;
    if (majority_.is_open() || !state_.standing().begun) {
      ended_ = ended(exit_code_of_signal(number), "ended at once by a signal");
    }
  });
}

void Council::end(const cluster::JobReport& report) {
  // The others have been told of a job that began.
  if (led_ && !state_.standing().over) {
    const auto told = line_->ask(Over{lead_, static_cast<std::uint32_t>(report.code), report.why});
    if (!told) log(Level::debug, told.error().message);
  }
  if (!led_ && !was_told_) return;
  say(seat_.command.get(), concat(job_is_over, report.code, "\n"));
  replacer_->end();
}

}  // namespace piracema::council
