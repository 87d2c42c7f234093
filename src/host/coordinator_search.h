#pragma once

#include <piracema/error.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "host/known_coordinators.h"
#include "loop/poller.h"
#include "net/session/coordinator_call.h"
#include "net/socket/connection.h"

namespace piracema::cluster {

/// Looks for the coordinator of a job: calls where it may be, one address after the other, until
/// one answers or the time is over. One that is silent, as its host is cut off or busy, is waited
/// for while others are called. Belongs to the poller's thread.
class CoordinatorSearch {
 public:
  static constexpr std::chrono::milliseconds answers_within_at_first{250};
  /// A connection that is still to be trusted, or why the last call failed; Errc::not_found where
  /// there will be no other.
  using OnDone = std::function<void(Result<std::shared_ptr<net::Connection>>)>;

  /// One that is called has so long to answer, and twice as long each time that it has not; the
  /// next one is called after a quarter of a second anyway.
  CoordinatorSearch(net::Poller& poller, KnownCoordinators known, OnDone on_done,
                    std::chrono::milliseconds answers_within = answers_within_at_first);
  ~CoordinatorSearch();
  CoordinatorSearch(const CoordinatorSearch&) = delete;
  CoordinatorSearch& operator=(const CoordinatorSearch&) = delete;

  /// Asked before each call.
  KnownCoordinators& known() { return known_; }
  /// Somebody has found it at this address without a call.
  void found_at(const std::string& address) { called_ = address; }
  /// Calls at once, and again until `until`; once at least. Not while it searches.
  void begin(Time until);
  /// The one that was there is gone: calls after a moment, so that a coordinator which hangs up on
  /// us at once is not called without end in no time.
  void begin_again(Time until, const Error& why);
  /// Calls all but the one that was found last, until `until`: it says nothing, and may still be
  /// the one. Not while it searches.
  void look_for_others(Time until);
  /// Searches no more; `on_done` is not called.
  void stop();
  bool searches() const { return searches_; }

 private:
  struct Called {
    /// The last one; it has answered, or failed, unless it is waited for.
    std::unique_ptr<CoordinatorCall> call;
    bool waits = false;
    std::chrono::milliseconds answers_within{};
  };

  void begin_at(Time until, std::string but);
  void dial();
  void dial(const std::string& address);
  void answered(const std::string& address, Result<std::shared_ptr<net::Connection>> line);
  void try_again(const Error& why);
  void dial_after(Time pause);
  bool waits_for_any() const;
  void done(Result<std::shared_ptr<net::Connection>> line);

  net::Poller& poller_;
  KnownCoordinators known_;
  const OnDone on_done_;
  /// By their addresses. One that is over is destroyed later: it may be what calls this.
  std::map<std::string, Called> calls_;
  std::optional<net::Poller::Timer> timer_;
  /// Where the next call goes, and of how many addresses.
  std::size_t next_ = 0, of_ = 1;
  /// Who was found last, and who is not called now.
  std::string called_, but_;
  bool searches_ = false;
  Time until_{};
  const std::chrono::milliseconds answers_within_min_;
};

}  // namespace piracema::cluster
