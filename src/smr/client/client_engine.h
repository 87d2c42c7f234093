#pragma once

#include <piracema/error.h>
#include <piracema/smr/configuration.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "smr/client/tally.h"
#include "smr/link/authenticator.h"
#include "smr/link/caller.h"
#include "smr/link/client_wire.h"
#include "smr/view.h"

namespace piracema::smr {

/// The view that a configuration begins with; and who may have come since.
View view_of(const Configuration& configuration);
std::vector<MemberInfo> added_in(const Configuration& configuration);

/// The administrator comes as this client, without sessions.
constexpr ClientId administrator_id = 0;

/// A client without a thread of its own: finds the leader and the view, asks again, counts equal
/// replies. Belongs to the poller's thread; the flush list is flushed by its owner, once for all
/// that was asked meanwhile.
class ClientEngine {
 public:
  /// Called once, on the poller's thread, never from within the call that asked. Errors: timeout
  /// (it may have been executed), refused (not executed: too large, or this is no client of the
  /// group; or the session is gone and nobody knows; the message says which).
  using Done = std::function<void(Result<Buffer>)>;

  struct Retry {
    /// A request without an answer for so long is sent to all replicas, again after twice as long …
    std::chrono::milliseconds first{500}, longest{4'000};
    /// A read that replicas do not agree on for so long is ordered.
    std::chrono::milliseconds read{250};
  };

  ClientEngine(net::Poller& poller, FlushList& flush_list, const Configuration& configuration,
               ClientId id, const KeyPair& key, const Retry& retry);
  ~ClientEngine();
  ClientEngine(const ClientEngine&) = delete;
  ClientEngine& operator=(const ClientEngine&) = delete;

  /// `kind` is ordered or parallel; an administrator's, admit or reconfigure. The last is done
  /// when the view has changed, in whatever way.
  void order(Kind kind, std::uint32_t group, Buffer operation, Time deadline, Done done);
  /// Linearizable, without a place in the order where that can be had.
  void read(Buffer operation, Time deadline, Done done);

  /// As `read`, once there is something to tell: replicas hold it for as long (Watchable).
  void hold(Buffer operation, Time deadline, Done done);

  /// Ends the session, then calls; what is under way is given up.
  void close(Time deadline, std::function<void()> done);

  const View& view() const { return view_; }
  /// Calls these as well, who are no members, or not yet.
  void meet(const std::vector<MemberInfo>& some);
  /// Asks all that it is connected to what they are; `statuses` has what they said, until their
  /// connections end.
  void ask_statuses() { send_to_all(status_kind, {}); }
  const std::map<ReplicaId, StatusTold>& statuses() const { return statuses_; }
  /// Why that one cannot be reached; empty if it can, or nothing is known.
  std::string trouble_with(ReplicaId replica) const;
  /// How many of its members say that it has begun, and know of no later one.
  std::size_t arrived() const;
  bool has_arrived(ReplicaId member) const;
  /// nullopt while no replica has told.
  std::optional<Standing> standing() const { return standing_; }
  /// How many of them this client is connected to.
  std::size_t links() const;
  /// For people: why replicas cannot be reached; empty if all are.
  std::string trouble() const;

 private:
  /// What is asked for and not answered.
  struct Asked {
    Request request;
    Buffer encoded;
    bool is_read = false, is_held = false;
    Done done;
    Time deadline{}, next_try{};
    std::chrono::milliseconds pause{};
    Tally tally;
  };
  using AskedPtr = std::unique_ptr<Asked>;

  void connect();
  void call(const MemberInfo& replica, std::map<ReplicaId, std::unique_ptr<Caller>>& callers);
  void open_session();
  void opened(Result<Buffer> result);
  void start(AskedPtr asked);
  void start_waiting();
  void submit(Asked& asked);
  void start_read(AskedPtr asked);
  void send_read(std::uint64_t token, Asked& asked);
  void order_instead(AskedPtr asked);

  void known(ReplicaId from);
  void received(ReplicaId from, std::uint8_t kind, Bytes message);
  void reply(ReplicaId from, Bytes message);
  void read_reply(ReplicaId from, Bytes message);
  void new_standing(ReplicaId from, const Standing& standing);
  void new_view(Bytes message);
  void use_view(const View& view);
  void answered(AskedPtr asked, ReplyStatus status, Bytes result);
  void session_lost();

  void send_to(ReplicaId to, std::uint8_t kind, Bytes first, Bytes second = {});
  void send_to_all(std::uint8_t kind, Bytes first, Bytes second = {});
  void resend_all();
  void tick();
  /// A quorum has said for a while that it does not know this client.
  bool is_stranger() const;
  void give_up_as_stranger();
  template <class Visit>
  void each_asked(Visit visit) {
    for (const auto& [number, asked] : sessionless_) visit(*asked);
    for (Sequence sequence = oldest_; session_ != 0 && sequence < next_; ++sequence) {
      if (const AskedPtr& asked = asked_[sequence % window_]) visit(*asked);
    }
  }
  void finish(AskedPtr asked, Result<Buffer> result);
  AskedPtr* find(std::uint64_t session, Sequence sequence);

  /// Replicas answer a read that is held before that.
  static constexpr std::chrono::seconds hold_time{12};
  static std::uint8_t kind_of(const Asked& read) { return read.is_held ? hold_kind : read_kind; }
  /// How exact deadlines and repetitions are.
  static constexpr std::chrono::milliseconds tick_interval{20};

  net::Poller& poller_;
  FlushList& flush_list_;
  const Self self_;
  const Retry retry_;
  const bool byzantine_;
  const std::size_t operation_bytes_max_;
  RequestProver prover_;
  View view_;
  /// Replicas that may know of a later view.
  std::vector<MemberInfo> added_;
  std::map<ReplicaId, std::unique_ptr<Caller>> callers_;
  /// The last word of each replica; and of whoever is to be believed about the leader.
  std::map<ReplicaId, Standing> told_;
  std::map<ReplicaId, StatusTold> statuses_;
  std::optional<Standing> standing_;
  ReplicaId leader_ = 0;

  /// 0: there is none.
  std::uint64_t session_ = 0;
  std::uint32_t window_ = 0;
  bool opening_ = false;
  Sequence next_ = 1;
  /// All below are answered.
  Sequence oldest_ = 1;
  /// By sequence modulo the window.
  std::vector<AskedPtr> asked_;
  /// Requests of no session (`open`, `reconfigure`), by their number.
  std::map<Sequence, AskedPtr> sessionless_;
  std::unordered_map<std::uint64_t, AskedPtr> reads_;
  std::uint64_t read_count_ = 0;
  /// For a session, or for room in it.
  std::deque<AskedPtr> waiting_;
  std::optional<net::Poller::Timer> timer_, reopen_;
};

}  // namespace piracema::smr
