#pragma once

#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "smr/order/core/testing.h"
#include "smr/order/leader/leader_watch.h"

/// What the tests of a core's parts share: the parts of one replica, which stand for themselves.
namespace piracema::smr {

struct TestSeat {
  explicit TestSeat(ReplicaId me, FaultModel model = FaultModel::crash, std::uint32_t n = 3,
                    Settings with = {})
      : settings(with), auth(me), members(me, test_view(model, n)) {
    pass(Time(1));
    patience.start(now);
    clock.start(now);
    watch.begin(now);
  }

  /// Another step begins; returns what the last one wanted done.
  std::vector<Action> pass(Time time = {}) {
    now += time;
    std::vector<Action> before = std::exchange(out, {});
    step.begin(now, out);
    return before;
  }
  /// What was sent since then of this kind, to whomever.
  template <class M>
  std::vector<M> sent() const {
    std::vector<M> all;
    for (const Action& action : out) {
      const auto* send = std::get_if<Send>(&action);
      if (!send) continue;
      if (const M* one = std::get_if<M>(send->message.get())) all.push_back(*one);
    }
    return all;
  }
  /// A batch that all agree on comes next.
  void decide(const BatchPtr& batch) {
    progress.hand_out(batch->digest);
    pool.decided(batch->requests);
    watch.decided(batch->requests.size(), true);
    progress.executed(progress.decided(), std::nullopt);
  }

  const Settings settings;
  TestAuthenticator auth;
  Time now{1'000'000'000};
  std::vector<Action> out;
  Membership members;
  Step step{members};
  Progress progress;
  Instances instances;
  AgreedClock clock{members.view().model, settings.clock_credit};
  RequestPool pool{settings};
  FormerLife life{false};
  Reconfiguration views{members.me(), auth, members.view(), settings.resend_interval};
  DecisionProofs proofs{step, members, progress, views, auth};
  Leadership leadership{members, life};
  LeaderPatience patience{settings};
  ConfirmedReads reads{step,     members,  leadership,
                       progress, patience, Time(settings.resend_interval)};
  Proposer proposer{settings, step, members, leadership, progress, instances, clock, pool};
  LeaderChange change{settings.resend_interval,
                      step,
                      members,
                      leadership,
                      life,
                      patience,
                      reads,
                      proposer,
                      progress,
                      instances,
                      proofs,
                      pool,
                      auth};
  LeaderWatch watch{settings, step,     members, leadership, patience,
                    progress, proposer, pool,    change};
};

}  // namespace piracema::smr
