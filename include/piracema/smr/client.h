#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>
#include <piracema/smr/configuration.h>
#include <piracema/smr/groups.h>
#include <piracema/smr/invoker.h>

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>

namespace piracema::smr {

struct ClientOptions {
  /// As in the configuration, [client.ID], or as an administrator has admitted it.
  std::uint64_t id = 1;
  /// Made by `piracema kv keygen`; for its owner alone.
  std::string key_file;
  /// An operation that takes longer is an Errc::timeout. It may be executed all the same.
  std::chrono::milliseconds timeout{10'000};
};

/// Asks a replicated service (paper 003, section 2.1). Finds the leader, and the replicas of a
/// later view, by itself; asks again until it is answered; each operation is executed once, however
/// often it was sent. With Byzantine faults it believes what a quorum says, with crashes the
/// leader.
///
/// Any thread, many operations at a time. It has one thread of its own, on which callbacks are
/// called: they must not block, and must not wait for another operation.
///
/// Errors of operations: timeout; refused (too large, more than 65,536 at a time, or the session
/// was closed in favour of other clients', and the message says that nobody knows).
class Client final : public Invoker {
 public:
  /// Connects in the background: a group that is not there yet is waited for. Errors are those of
  /// the configuration and of the key file, and config if the configuration has another key for
  /// client `id`. One that nobody has admitted gets no answer.
  static Result<std::unique_ptr<Client>> open(const Configuration& configuration,
                                              const ClientOptions& options);
  /// Closes its session, if that takes less than a second. What is not answered gets an error.
  ~Client() override;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// The reply of StateMachine::apply; in the order of all clients' operations.
  Result<Buffer> invoke_ordered(Bytes operation);
  /// As that; `group` says which operations it conflicts with (paper 003, section 3).
  Result<Buffer> invoke_parallel(std::uint32_t group, Bytes operation);
  /// The reply of StateMachine::query, which changes nothing: sees all that was answered to anybody
  /// before it was called (linearizable), mostly without being ordered. With Byzantine faults it
  /// may be ordered: then `apply` gets the same bytes.
  Result<Buffer> invoke_unordered(Bytes operation);

  /// As invoke_unordered, answered when there is something to tell (Watchable), without a question
  /// again and again; after ten seconds perhaps with nothing. Errc::timeout after `patience`. With
  /// crash faults it is what one replica has executed: what it tells was decided, and may not be
  /// all that was.
  Result<Buffer> invoke_held(Bytes operation, std::chrono::milliseconds patience);

  // ---- the same without waiting
  void invoke_ordered(Bytes operation, Callback done) override;
  void invoke_parallel(std::uint32_t group, Bytes operation, Callback done);
  void invoke_unordered(Bytes operation, Callback done) override;
  void invoke_held(Bytes operation, std::chrono::milliseconds patience, Callback done);
  std::future<Result<Buffer>> async_ordered(Bytes operation);
  std::future<Result<Buffer>> async_parallel(std::uint32_t group, Bytes operation);
  std::future<Result<Buffer>> async_unordered(Bytes operation);

  /// What the replicas last said; nullopt while none has answered.
  std::optional<std::uint32_t> leader();

 private:
  struct Parts;
  explicit Client(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace piracema::smr
