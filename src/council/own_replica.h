#pragma once

#include <piracema/error.h>
#include <piracema/smr/invoker.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "council/group_state.h"
#include "council/seats.h"
#include "smr/replica/replica_node.h"

namespace piracema::council {

/// The replica of the coordinators' group that is in this process, with a thread of its own. What
/// it keeps it does not need again: its folder is gone with it. Whatever is invoked goes to the
/// group; any thread may, and hears of it on the replica's.
class OwnReplica final : public smr::Invoker {
 public:
  /// All on its thread.
  struct Events {
    std::function<void(std::uint64_t term)> leads;
    std::function<void()> leads_no_longer;
    /// `state` has changed.
    std::function<void()> applied;
    /// It takes part no longer: well if it was stopped, or the group is without it.
    std::function<void(const Result<Done>&)> ended;
  };

  /// Of the member that has this seat. `state` outlives it. Errc::config, Errc::io.
  static Result<std::unique_ptr<OwnReplica>> open(const Seat& seat, GroupState& state,
                                                  Events events);
  /// Stops it.
  ~OwnReplica() override;

  /// It takes part from now on. Once.
  void begin();
  /// Of the administrator; a file that nobody else can read.
  std::string key_file() const { return folder_ + "/administrator"; }

  void invoke_ordered(Bytes operation, Callback done) override {
    node_->invoke(true, operation, std::move(done));
  }
  void invoke_unordered(Bytes operation, Callback done) override {
    node_->invoke(false, operation, std::move(done));
  }

 private:
  OwnReplica(std::string folder, Events events)
      : folder_(std::move(folder)), events_(std::move(events)) {}

  const std::string folder_;
  const Events events_;
  std::unique_ptr<smr::ReplicaNode> node_;
  std::thread thread_;
};

}  // namespace piracema::council
