#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "store/objects/lease.h"
#include "store/objects/object_client.h"
#include "store/snapshot/job_store.h"

namespace piracema::store {

/// A lease on an object, kept by a thread of its own.
class ObjectLock final : public JobLock {
 public:
  /// Waits to see whether the job that has it is alive: for `settings.term`, and for as long as
  /// what it has started may go on, by the clock. Errc::refused if it is, and for a server on which
  /// two might hold it: one that writes though the condition does not hold.
  static Result<std::shared_ptr<ObjectLock>> take(std::unique_ptr<ObjectClient> client,
                                                  std::string key, std::string name,
                                                  const JobClaim& claim,
                                                  Lease::Settings settings = {});
  /// Gives it back, if it was not left to others.
  ~ObjectLock() override;

  void when_lost(std::function<void(const Error&)> lost) override;
  void leave_to_others() override { left_ = true; }
  /// No other job can have it.
  bool is_valid() const;

 private:
  ObjectLock(std::unique_ptr<ObjectClient> client, std::string key, std::string name,
             const JobClaim& claim, Lease::Settings settings);
  /// Does it, and says what came of it.
  Lease::Event perform(const Lease::Action& action);
  Result<Done> take(Time until);
  Result<Done> check_conditions();
  void keep();
  void tell(const Error& why);

  const std::unique_ptr<ObjectClient> client_;
  const std::string key_, name_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Lease lease_;
  /// What is to be done next.
  Lease::Action action_ = Lease::Wait{};
  /// Why the last request did not come back with an answer.
  std::optional<Error> unclear_;
  bool over_ = false;
  std::atomic<bool> left_ = false;
  /// Held while somebody is told, and never with the other one.
  std::mutex loss_mutex_;
  std::optional<Error> lost_;
  std::function<void(const Error&)> on_lost_;
  std::thread keeper_;
};

}  // namespace piracema::store
