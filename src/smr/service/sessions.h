#pragma once

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "smr/service/session.h"

namespace piracema::smr {

/// How many clients a service serves. Equal on all replicas.
struct SessionLimits {
  /// Sessions in all; who was used longest ago has to go, and learns of it when it comes back.
  std::size_t sessions = 4'096;
  /// Sessions of one client: one that opens many evicts its own.
  std::size_t sessions_of_client = 64;
  /// Clients that have no session any more and of which we still know which `open` was the last.
  std::size_t past_clients = 16'384;
};

/// All sessions of a service: replicated state, changed by ordered requests alone. Not safe for
/// two threads.
class Sessions {
 public:
  explicit Sessions(const SessionLimits& limits) : limits_(limits) {}

  /// `sequence` numbers the client's `open`s, and grows (such as by the client's clock): one that
  /// is not above the last is a copy. Returns the session's number, for a copy of the last one that
  /// it opened before; 0 for an older one whose session is gone.
  /// `life`: of the process that asks (Opens).
  std::uint64_t open(ClientId client, Sequence sequence, std::uint64_t life = 0);
  void close(ClientId client, std::uint64_t session);
  /// All that the client has.
  void close_all(ClientId client);
  /// For reading and for a change, which makes it the one that was used last; null if there is
  /// none of this number and client.
  const Session* find(ClientId client, std::uint64_t session) const;
  Session* use(ClientId client, std::uint64_t session);
  /// The session that this `open` has opened, if it is still there; else 0.
  std::uint64_t opened_by(ClientId client, Sequence sequence) const;
  /// Whether this session was opened, and is there no more: it never comes back. Likewise whether
  /// the one that this `open` has opened is gone, or will never be.
  bool is_gone(ClientId client, std::uint64_t session) const {
    return session != 0 && session < next_number_ && find(client, session) == nullptr;
  }
  bool open_is_gone(ClientId client, Sequence sequence) const;
  /// The number of the client's last `open`; 0 if it is not known.
  Sequence last_open(ClientId client) const;
  /// For the reply to a request of before: does not count as a use.
  Session* find_to_settle(ClientId client, std::uint64_t session);

  std::size_t size() const { return sessions_.size(); }

  /// What they are now, to be written later by another thread: sessions are copied when they
  /// change after this.
  std::function<void(wire::Writer&)> snapshot();
  /// What `snapshot` wrote. Ask `in` whether it was right: if not, these are in no state at all.
  void read(wire::Reader& in, bool has_lives = true);

 private:
  struct Client {
    Sequence last_open = 0;
    /// When it last had a session.
    std::uint64_t used = 0;
    std::vector<std::uint64_t> sessions;
  };

  void erase(std::uint64_t number);
  void make_room(const Client& client);
  void forget_past_client();

  Session& writable(std::shared_ptr<Session>& session);

  SessionLimits limits_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Session>> sessions_;
  std::unordered_map<ClientId, Client> clients_;
  std::uint64_t next_number_ = 1;
  /// Counts uses: larger is later.
  std::uint64_t uses_ = 0;
  /// Counts snapshots: sessions of an older one may still be written by somebody.
  std::uint64_t generation_ = 0;
};

}  // namespace piracema::smr
