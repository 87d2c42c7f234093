#pragma once

#include <piracema/error.h>
#include <piracema/smr/state_machine.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "smr/order/messages/actions.h"
#include "smr/order/transfer/checkpoint.h"
#include "smr/service/admissions.h"
#include "smr/service/checkpoint_spacing.h"
#include "smr/service/executor/executor.h"
#include "smr/service/reply.h"
#include "smr/service/sessions.h"
#include "smr/service/trail_keeper.h"

namespace piracema::smr {

/// Equal on all replicas.
struct ServiceSettings {
  SessionLimits sessions;
  /// Of a checkpoint's pieces; at most chunk_bytes_max.
  std::uint32_t chunk_bytes = 256 << 10;
};

/// What a replica does with requests once they have their order (paper 003, section 2.1.1,
/// execution): looks which it has executed before, executes the others, remembers the replies.
///
/// One thread calls it (the paper's delivery thread); a simulator may be that thread.
class Service {
 public:
  /// Told of clients that come, go, or get another key, on the thread that calls: when that is
  /// executed, and of all of them when a checkpoint is restored.
  using AdmissionSink = std::function<void(const std::vector<Admission>&)>;

  /// `machine` and `executor` outlive it; `executor` executes on `machine`.
  Service(const ServiceSettings& settings, StateMachine& machine, Executor& executor,
          ReplySink replies, AdmissionSink admissions = nullptr);

  /// Executes batches that follow on what was executed, each one in its order. Several at a time
  /// give the executor more to do at once; the outcome is the same. Replies leave as they are
  /// there; none is missing when it returns.
  ///
  /// A request that was executed before is answered again with what is kept. Requests of
  /// Kind::reconfigure are the core's and get no reply here.
  void execute(std::span<const Execute> batches);

  /// Answers a request that has been executed, out of the order, with what is kept; false if there
  /// is nothing to say. For a client that asks again because its reply was lost: the core does not
  /// order again what it knows to be decided.
  bool answer_again(const Request& request);

  /// Executed up to here.
  Instance executed() const { return executed_; }

  /// For replicas whose states differ.
  Trail trail(const TrailRequest& asked) const { return trail_.part(asked); }
  /// A checkpoint is stable there.
  void stable(Instance instance) { trail_.stable(instance); }

  /// When the machine wants a tick next, as of what is executed.
  std::optional<std::uint64_t> timer() const { return machine_.next_deadline(); }

  /// An operation out of the order, on what is executed.
  Buffer query(Bytes operation) const { return machine_.query(operation); }

  /// A checkpoint is due at what is executed, so many bytes after one was due before: whether it is
  /// worth one, as on all replicas. Asked once for each.
  bool checkpoint_due(std::uint64_t ordered) {
    return spacing_.take(ordered, machine_.state_bytes());
  }
  /// The state as it is now, to be made into bytes by any thread while execution goes on. One at a
  /// time.
  std::function<Checkpoint()> snapshot(Pieces pieces = Pieces::kept);

  /// Becomes the checkpoint at `instance` whose bytes these are; they were compared with its
  /// digests. Errc::corrupt if no service of this kind wrote them, Errc::refused if one of another
  /// version did; then the service is as it was.
  Result<Done> restore(Instance instance, Bytes image);

 private:
  /// Where a task comes from, and its reply.
  struct Origin {
    /// Null for a tick.
    const Request* request = nullptr;
    std::shared_ptr<const Buffer> result;
  };

  void admit(const Request& request, const Context& context);
  void open(const Request& request);
  void refuse_open(const Request& request);
  void tell_opened(const Request& request, std::uint64_t session);
  void close(const Request& request);
  void change_clients(const Request& request);
  void operate(const Request& request, const Context& context);
  void answer(const Request& request, ReplyStatus status,
              std::shared_ptr<const Buffer> result = nullptr);
  void finish(std::span<Task* const> finished);
  void settle();

  const ServiceSettings settings_;
  StateMachine& machine_;
  Executor& executor_;
  const ReplySink replies_;
  const AdmissionSink tell_admissions_;
  Sessions sessions_;
  Admissions admissions_;
  TrailKeeper trail_;
  CheckpointSpacing spacing_;
  Instance executed_ = 0;
  /// The leader's clock, as operations have seen it: never goes back.
  std::uint64_t time_ = 0;

  // ---- of one call of `execute`
  std::vector<Task> tasks_;
  std::vector<Origin> origins_;
  /// Replies to what is not executed.
  std::vector<Reply> answers_;
};

}  // namespace piracema::smr
