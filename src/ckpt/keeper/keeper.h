#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "ckpt/keeper/preparation.h"

/// What watches over one job: starts it, has it saved, hands its machine back. Pure: the driver
/// tells what happens and when, and does what it is told.
namespace piracema::ckpt {

/// Names somebody who waits for an answer.
using Caller = std::uint64_t;

// What happens.
struct CapsuleReady {
  bool ok = false;
  std::string why;
};
/// The answer to Launch. `more`: there is an older image to try.
struct Launched {
  bool ok = false, more = false;
  std::string why;
  /// As far as is known nothing is wrong with the image: it may do another time.
  bool passing = false;
  /// What it was launched from; none: from the beginning.
  std::optional<std::uint64_t> image{};
};
struct JobEnded {
  int status = 0;
};
/// An image that is complete: how long it took to make, and how long the job stood still for it.
struct SavedImage {
  std::uint64_t image = 0, bytes = 0;
  Time took{}, frozen{};
  /// On this node's own disk: the store gets it later, or never.
  bool local = false;
};
/// An image is complete, or is not.
struct Dumped {
  bool ok = false;
  std::string why, what;
  /// What was in the way passes, most likely in milliseconds.
  bool passing = false;
  SavedImage saved{};
};
struct CapsuleDied {
  /// Empty: somebody has killed it.
  std::string why;
};
struct SaveAsked {
  Caller caller = 0;
};
struct StopAsked {
  Caller caller = 0;
};
/// Ctrl-C, SIGTERM; the second one means it.
struct Interrupted {};
/// The machine is ours until then.
struct WindowOpened {
  Time closes{};
};
/// The machine has to be free by then, whatever was said before: its user has come back.
struct LeaveAsked {
  Time closes{};
};
/// As long may it take to stop the job with an image, at the quantile that was asked for; and to
/// end its processes without one.
struct Forecast {
  Time duration{}, ending{};
};
/// The answer to RunCommand.
struct CommandEnded {
  bool ok = false;
  std::string why;
};
/// The program says that it is a good moment for an image.
struct MomentSaid {};
/// The job is to stand still for a while: a user is at its machine. Or it is to go on.
struct Suspended {
  bool on = false;
};
struct Tick {};
using KeeperEvent = std::variant<CapsuleReady, Launched, JobEnded, Dumped, CapsuleDied, SaveAsked,
                                 StopAsked, Interrupted, WindowOpened, LeaveAsked, Forecast,
                                 CommandEnded, MomentSaid, Suspended, Tick>;

// What is to be done.
struct OpenCapsule {};
/// From the newest image but `attempt`, or from the beginning if there are no images at all.
struct Launch {
  std::size_t attempt = 0;
};
struct Dump {
  bool stop = false;
  /// The program has said that it is one.
  bool at_good_moment = false;
};
/// One of the user's, beside the job.
enum class CommandKind : std::uint8_t { before_save, after_restore };
struct RunCommand {
  CommandKind kind = CommandKind::before_save;
};
/// An image waits for a good moment of the program; else none does any more, for it `failed` or
/// there is one.
struct AskForMoment {
  bool wanted = false, failed = false;
};
/// All processes of the job stand still, or go on. It goes on before a Dump, which has to find
/// connections settled and processes that run.
struct Pause {
  bool still = false;
};
/// At once, whatever it does; the driver reports nothing of it any more.
struct KillCapsule {};
struct Answer {
  Caller caller = 0;
  bool ok = false;
  std::string text;
};
/// The window is closed and the machine is free; `saved`: with an image of the job as it was.
struct HandedBack {
  bool saved = false;
  std::string why;
};
enum class End : std::uint8_t { job_ended, stopped, interrupted, failed, lost };
struct Finish {
  End end = End::failed;
  int status = 0;
  std::string why;
};
/// Something that the user should know.
struct Remark {
  std::string text;
};
using KeeperAction = std::variant<OpenCapsule, Launch, Dump, RunCommand, AskForMoment, Pause,
                                  KillCapsule, Answer, HandedBack, Finish, Remark>;

struct KeeperSettings {
  /// Time between two images while the job runs; none: only when asked.
  std::optional<Time> every;
  /// Wait for a WindowOpened before anything runs, and go on with the next one after each; or
  /// finish after the first.
  bool windows = false, once = false;
  /// A second Interrupted does not end the job at once: a scheduler repeats itself.
  bool patient = false;
  /// So long before a window closes what is not done is given up, or as long as ending the
  /// processes takes by the forecast, if that is longer.
  Time reserve = std::chrono::milliseconds(300);
  /// What comes before an image. Where a window closes it is begun as much earlier as it may take.
  Preparation::Settings before_save{};
  /// There is a command for after a restart from an image, and it takes at most so long; an image
  /// that is due waits for its end.
  std::optional<Time> after_restore{};
};

class Keeper {
 public:
  /// Over: the keeper has nothing to do any more. Away: it waits for a window.
  enum class State : std::uint8_t { away, opening, launching, running, saving, stopping, over };

  explicit Keeper(KeeperSettings settings)
      : settings_(settings), preparation_(settings.before_save) {}

  std::vector<KeeperAction> begin(Time now);
  std::vector<KeeperAction> step(Time now, const KeeperEvent& event);

  /// When a Tick is due; none: something else has to happen first.
  std::optional<Time> wake() const;

  bool running() const { return state_ == State::running; }
  bool dumping() const { return state_ == State::saving || state_ == State::stopping; }
  bool over() const { return state_ == State::over; }
  /// A window is open or being left.
  bool in_capsule() const { return state_ != State::away && state_ != State::over; }
  std::optional<Time> closes() const { return closes_; }
  State state() const { return state_; }
  /// What was in the way of a dump passes: it is begun again soon.
  bool tries_again() const { return state_ == State::running && trying_since_.has_value(); }
  /// When a dump is begun that the job does not survive, so that the window is left in time; none:
  /// nothing ends it.
  std::optional<Time> stop_at() const;
  /// When the next image is due while the job goes on; none: when somebody asks, or not now.
  std::optional<Time> save_at() const;

 private:
  void on(const CapsuleReady& event);
  void on(const Launched& event);
  void on(const JobEnded& event);
  void on(const Dumped& event);
  void on(const CapsuleDied& event);
  void on(const SaveAsked& event);
  void on(const StopAsked& event);
  void on(const Interrupted& event);
  void on(const WindowOpened& event);
  void on(const LeaveAsked& event);
  void on(const Forecast& event);
  void on(const CommandEnded& event);
  void on(const MomentSaid& event);
  void on(const Suspended& event) { suspended_ = event.on; }
  void on(const Tick& event) { (void)event; }

  void open();
  void launch_again(std::string why);
  void dump(bool stop);
  /// Soon, unless that has been tried for long enough.
  bool try_again();
  void dumped_to_stop(const Dumped& event, const std::string& text);
  /// What is due by the clock, and what waited for the last dump to end.
  void look_at_the_clock();
  /// As long as nothing is wanted of it for which it has to run.
  void stand_still();
  bool is_image_due() const;
  /// Whether nothing has to come before it any more.
  bool is_prepared();
  void end_preparation(bool failed);
  /// For those who wait for it.
  std::string text_of(const Dumped& event) const;
  void hand_back(bool saved, std::string why);
  void finish(End end, int status, std::string why);
  void answer(std::vector<Caller>& callers, bool ok, const std::string& text);
  void answer_all(bool ok, const std::string& text);
  void act(KeeperAction action) { actions_.push_back(std::move(action)); }
  /// From then on what is not done is given up.
  std::optional<Time> give_up_at() const;

  const KeeperSettings settings_;
  State state_ = State::away;
  Time now_{};
  std::vector<KeeperAction> actions_;
  /// Images that were passed by, and how often the one that is tried has failed.
  std::size_t attempt_ = 0;
  int failed_launches_ = 0;
  Time saved_at_{};
  Forecast forecast_;
  std::optional<Time> closes_;
  /// A dump that failed is not tried again before.
  Time not_before_{};
  /// Since when dumps have failed for what passes, and how long to wait for that next.
  std::optional<Time> trying_since_;
  Time pause_{};
  int interrupts_ = 0;
  bool stop_wanted_ = false;
  /// It is to stand still; it does.
  bool suspended_ = false, still_ = false;
  Preparation preparation_;
  /// It is for the end of a window.
  bool leaving_ = false;
  /// What was wrong with its command.
  std::string complaint_;
  /// The command after a restart is waited for until then.
  std::optional<Time> command_until_;
  /// Those who wait for the dump under way, and for the next one.
  std::vector<Caller> waiting_, next_;
};

}  // namespace piracema::ckpt
