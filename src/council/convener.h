#pragma once

#include <piracema/error.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cluster/driver/driver.h"
#include "cluster/driver/signals.h"
#include "council/followed_log.h"
#include "council/leader_line.h"
#include "council/page_relay.h"
#include "council/seats.h"
#include "host/hostfile_watch.h"
#include "loop/poller.h"

namespace piracema::council {

/// The command that was typed, of a job with several coordinators: starts them, each as a process
/// of its own, or joins a job that goes on, and waits until the job is over. It is none of them, so
/// whichever is lost, it has the exit code of the job; and when it is lost itself the job goes on.
/// It hears that code from whoever leads in the end (LeaderLine), or by the line of one that it has
/// started. Belongs to one thread.
class Convener {
 public:
  /// `words` is the command line of `job`. `pages` tell of the job from now on until this ends, and
  /// outlive it. Errc::config, Errc::io.
  static Result<std::unique_ptr<Convener>> convene(std::uint32_t count,
                                                   const std::vector<std::string>& words,
                                                   const cluster::JobOptions& job,
                                                   PageRelay& pages);
  /// Takes the place of the command of a job that goes on: what its coordinators have left beside
  /// its snapshots says where they are. Where there is no such job this is said, and `run` ends at
  /// once, with 4. Errc::config for what cannot be read.
  static Result<std::unique_ptr<Convener>> join(const cluster::JobOptions& job, PageRelay& pages);
  ~Convener();

  /// Of a job that follows its hosts: `run` ends with 75, and the job goes on, once the file of
  /// hosts that has named this one does so no more, and no coordinator is left here. Before `run`.
  void leave_with_host(const std::string& hostfile);

  /// Until the job is over, or none of its coordinators is left; the exit code of the job.
  int run();

 private:
  struct Member {
    Started started;
    bool is_here = true, lives = true;
    /// It, or one that it has started, has the other end of the line.
    bool speaks = true;
    /// What it has said of a line.
    std::string heard;
  };

  Convener(std::chrono::milliseconds keep, PageRelay& pages);
  void watch();
  void look_for_leader(SharedOut shared_out);
  void leader_came();
  void heard(Member& member);
  void reap();
  void signalled(int number);
  void listed(bool names_this_host);
  bool has_left() const;
  bool is_left(bool (*is_one)(const Member&)) const;
  bool all_are_here() const;
  bool goes_on() const;

  /// So long workers wait for a coordinator.
  const std::chrono::milliseconds keep_;
  PageRelay& pages_;
  net::Poller poller_;
  cluster::Signals signals_;
  std::vector<Member> members_;
  /// How the job has ended; and how one of those on this host, which did not know of it.
  std::optional<int> code_, one_ended_;
  /// What the one that leads says of it, which has more to say before it ends.
  std::optional<int> will_end_;
  Time will_end_since_{};
  std::unique_ptr<LeaderLine> leader_;
  std::uint32_t signals_taken_ = 0;
  /// Its own have the numbers from the next one on. One that joins draws it: the command before may
  /// have said some.
  std::uint64_t signals_from_ = 0;
  /// While nobody led; whoever leads next hears of them.
  std::vector<Signalled> unheard_;
  /// This host was named; and is no more.
  bool is_listed_ = false, host_leaves_ = false;
  std::unique_ptr<cluster::HostfileWatch> hosts_;
  /// Of one that has joined the job.
  std::unique_ptr<FollowedLog> log_;
};

}  // namespace piracema::council
