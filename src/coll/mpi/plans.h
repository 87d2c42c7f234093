#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "coll/mpi/exchange/exchange.h"
#include "coll/mpi/probe/probe_thread.h"
#include "coll/plan/plan.h"
#include "coll/plan/plan_mail.h"

namespace piracema::coll::mpi {

/// The plans of a communicator on their way from its rank 0: straight, by MPI, and around links
/// that are slow, as a guest of the thread that measures them: that one passes them on at once,
/// whatever the program does meanwhile. Windows are counted from 1 here: nobody is sent the first
/// plan. The program's thread calls it, but for what a guest has. Errors of MPI are thrown.
class Plans : public ProbeThread::Guest {
 public:
  /// Both outlive it. `probes` may be null; then all go straight. `number` is the same at all ranks
  /// of the communicator, and no other communicator's.
  Plans(Exchange&, ProbeThread* probes, std::uint64_t number, std::vector<Rank> world_ranks);
  ~Plans() override;

  /// At rank 0, window by window.
  void send(std::uint32_t window, const Plan&);
  /// At rank 0: a rank has the plans of all windows up to there.
  void on_has(Rank, std::uint32_t window);
  /// At rank 0: MPI has sent what was to go straight.
  bool all_sent() { return under_way_.test(); }

  /// At the others: the plan of a window, once and in order; nullopt if it is not there yet.
  std::optional<Plan> take(std::uint32_t window);
  /// It is here, though an emulated link may not show it yet.
  bool came(std::uint32_t window);
  /// What MPI brings of windows up to this one, which is not taken, has been received.
  bool all_came_up_to(std::uint32_t window);

  void on_packet(Rank from, std::span<const char> bytes) override;
  std::vector<Packet> due(Time now, const LinkMap&, const Detours&) override;
  Time next() const override;

 private:
  bool poll_straight(std::uint32_t window);
  void ask_if_late(std::uint32_t window);
  /// Receives what went straight and is not needed any more. True if there is nothing more of it.
  bool drop_late();

  Exchange& exchange_;
  ProbeThread* const probes_;
  const std::uint64_t number_;
  const std::vector<Rank> world_ranks_;
  Outbox under_way_;
  /// What has come straight, before it may be seen.
  std::optional<Exchange::Arrived> straight_;
  /// Since when the next one is waited for; 0: it is not.
  Time waits_since_{};
  /// Windows whose plans came by mail first.
  std::deque<std::uint32_t> late_;
  mutable std::mutex mutex_;
  PlanMail mail_;
  /// As the thread saw it last.
  bool some_go_around_ = false;
};

}  // namespace piracema::coll::mpi
