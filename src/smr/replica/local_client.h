#pragma once

#include <piracema/smr/invoker.h>

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "smr/link/authenticator.h"
#include "smr/request.h"
#include "smr/service/reply.h"

namespace piracema::smr {

/// The process of a replica is a client of this number, which has the replica's key; no others have
/// such numbers.
constexpr ClientId local_client_base = ClientId{1} << 63;
constexpr ClientId local_client_of(ReplicaId replica) { return local_client_base | replica; }

/// The process that a replica is in, as a client of the group without a connection: its requests go
/// from the replica to the leader, and what the replica itself has executed is the answer. For
/// crash faults alone: where replicas may lie, what one has executed is not yet what a quorum
/// acknowledges, and others might read what was before it.
///
/// `ask` and `close` from any thread; all else on the replica's.
class LocalClient {
 public:
  struct Host {
    /// Wakes the replica's thread, which calls `take`. Any thread.
    std::function<void()> wake;
    /// Into the order: to the replica's own core and to the leader.
    std::function<void(Request)> submit;
    /// As that, for one that may have been executed already.
    std::function<void(Request)> submit_again;
    /// Linearizable and not ordered, if this replica leads: answered with `read_reply`.
    std::function<void(std::uint64_t token, Buffer operation)> read;
  };
  /// Operations without an answer.
  static constexpr std::size_t outstanding_max = 65'536;
  /// A request without an answer for so long is submitted again.
  static constexpr std::chrono::milliseconds retry{500};

  LocalClient(ReplicaId replica, const KeyPair& key, Host host);

  /// Errors: timeout, refused; as of Client.
  void ask(bool ordered, Buffer operation, Time deadline, Invoker::Callback done);
  /// Whatever has no answer, or is asked from now on, gets this one.
  void close(const Error& why);

  /// Takes up what was asked.
  void take(Time now);
  /// A reply of the service's to this client; others are none of its business.
  void reply(const Reply& reply);
  bool is_mine(const Reply& reply) const { return reply.client == id_; }
  /// `known` is false if this replica does not lead: then it is ordered.
  void read_reply(std::uint64_t token, bool known, Bytes result);
  void tick(Time now);

 private:
  struct Asked {
    bool ordered = true;
    Buffer operation;
    Time deadline{};
    Invoker::Callback done;
  };
  /// A request under way; one that took too long has no `done`, and its place is still taken.
  struct Sent {
    Request request;
    Time deadline{}, next_try{};
    Invoker::Callback done;
  };

  bool has_room() const;
  void start(Asked asked);
  void start_waiting();
  void open_session();
  void opened(const Reply& reply);
  void session_lost();
  void finish(Invoker::Callback done, Result<Buffer> result);

  const ClientId id_;
  const Host host_;
  RequestProver prover_;
  Time now_{};

  std::mutex mutex_;
  std::vector<Asked> posted_;
  std::size_t outstanding_ = 0;
  std::optional<Error> closed_;

  /// 0: there is none.
  std::uint64_t session_ = 0;
  std::uint32_t window_ = 0;
  Sequence next_ = 1;
  /// Its own numbers of `open` have to be above this one.
  Sequence opened_before_ = 0;
  /// The request for a session, while there is none.
  std::optional<Sent> opening_;
  std::map<Sequence, Sent> sent_;
  std::unordered_map<std::uint64_t, Asked> reads_;
  std::uint64_t read_count_ = 0;
  /// For a session, or for room in it.
  std::deque<Asked> waiting_;
};

}  // namespace piracema::smr
