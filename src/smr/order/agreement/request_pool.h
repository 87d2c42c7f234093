#pragma once

#include <bitset>
#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "smr/order/messages/settings.h"
#include "smr/request.h"

namespace piracema::smr {

/// Requests that wait to be ordered, at every replica: the leader proposes them, the others watch
/// that it does (paper 003, section 2.1.1). Bounded for each client and in all; clients take turns.
/// Pure; the requests in it were verified.
class RequestPool {
 public:
  explicit RequestPool(const Settings& settings);

  enum class Added {
    fresh,
    known,  ///< Waits already, or was decided lately.
    full,   ///< Of this client, or altogether: the client has to ask again.
  };
  /// `voucher` is the place of the member that forwarded it; none if the client sent it.
  Added add(Request request, Time now, std::optional<std::size_t> voucher);

  /// Whether the same request is here, whatever its proof: it was verified when it came.
  bool holds(const Request& request) const;
  /// Requests that may be proposed and are not.
  bool has_waiting() const { return !turns_.empty(); }
  /// A batch of them, one of each client in turn, until it has `batch_requests` or `batch_bytes`
  /// or none is left. They stay in the pool until they are decided.
  BatchPtr propose(std::uint64_t time);

  /// A batch of an earlier leader is proposed again: what of it waits here does so no longer.
  void proposed(const BatchPtr& batch);

  /// These were decided, here or not; they leave, and do not come back as fresh for a while.
  void decided(const std::vector<Request>& requests);
  /// Nothing waits any more: this replica jumps over instances in which it may have been decided.
  /// What was not waits at others, or comes again.
  void forget_waiting();
  /// What was proposed and not decided waits again, and all timers start anew: for a new leader.
  void start_again(Time now);

  /// How long a request waits until it is forwarded, and from then on until it is overdue.
  struct Patience {
    Time fresh{}, forwarded{};
  };
  /// Requests whose first (`forward`) or second timer has run out; the timers start again, so each
  /// is returned once.
  struct Expired {
    std::vector<Request> forward;
    /// Some waited on after they had been forwarded.
    bool overdue = false;
  };
  Expired expire(Time now, Patience patience);
  std::optional<Time> next_deadline(Patience patience) const;
  /// Time in which this replica stood still: nobody is to blame for it.
  void forgive(Time late);

  /// Byzantine: a proposal with a request of this client came to nothing. The second time in a row
  /// no more of it is proposed unless so many members have forwarded it, until something of it is
  /// decided: perhaps its requests convince only some of the replicas.
  void suspect(ClientId client, std::size_t vouchers_wanted);

  std::size_t size() const { return size_; }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Client;
  struct Session;
  struct Entry {
    Request request;
    Client* client = nullptr;
    Session* session = nullptr;
    Time since{};
    std::size_t bytes = 0;
    std::uint64_t vouchers = 0;
    bool forwarded = false;
    /// It is in this batch, at `index`, and `request` has moved there.
    BatchPtr batch;
    std::size_t index = 0;
    bool queued = false;
  };
  using Entries = std::list<Entry>;
  /// Which sequences were decided, as far back as a client may have requests outstanding.
  struct Session {
    static constexpr std::size_t remembered = 1'024;
    Sequence highest = 0;
    std::bitset<remembered> decided;
    struct Pending {
      Sequence sequence = 0;
      Entries::iterator entry;
    };
    /// By ascending sequence: as a client sends them, and nearly as they are decided.
    std::vector<Pending> pending;
    /// Null if it does not wait here.
    const Entries::iterator* find(Sequence sequence) const;
    void insert(Sequence sequence, Entries::iterator entry);
    void remove(Sequence sequence);
    bool knows(Sequence sequence) const;
    void note(Sequence sequence);
  };
  struct Client {
    ClientId id = 0;
    std::unordered_map<std::uint64_t, Session> sessions;
    std::deque<Entries::iterator> waiting;
    std::size_t count = 0, bytes = 0;
    std::size_t vouchers_wanted = 0;
    std::size_t failures = 0;
    bool has_turn = false;
  };

  void queue(Entries::iterator entry);
  void unqueue(Entries::iterator entry);
  void vouch(Entries::iterator entry, std::optional<std::size_t> voucher);
  void erase(Entries::iterator entry);
  void forget_idle_clients();
  const Request& request_of(const Entry& entry) const {
    return entry.batch ? entry.batch->requests[entry.index] : entry.request;
  }

  const Settings settings_;
  std::unordered_map<ClientId, Client> clients_;
  std::size_t sessions_ = 0;
  /// Idle clients are forgotten when there are so many sessions.
  std::size_t forget_at_;
  /// By the time since which they wait: those that were forwarded, and those that were not.
  Entries fresh_, forwarded_;
  /// Clients with something to propose.
  std::deque<Client*> turns_;
  std::size_t size_ = 0, bytes_ = 0;
};

}  // namespace piracema::smr
