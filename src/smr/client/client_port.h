#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/log_limit.h"
#include "smr/link/client_wire.h"
#include "smr/link/message_link.h"
#include "smr/request.h"
#include "smr/view.h"

namespace piracema::smr {

/// The clients of one replica: many links of each, many sessions on each link. A client that asks
/// for more than its share, over all its links, is read from no more until it has been answered, so
/// that it waits in its own sockets and the others go on. No clock or socket inside: links are
/// given to it, and a tick tells the time. One thread.
class ClientPort {
 public:
  /// Links in all, and of one client.
  static constexpr std::size_t links_max = 10'000;
  static constexpr std::size_t links_of_client_max = 1'024;
  /// Requests and reads of one client without an answer, and their bytes. The link that goes beyond
  /// them ends its record.
  static constexpr std::size_t unanswered_max = 1'536;
  static constexpr std::size_t unanswered_bytes_max = std::size_t{16} << 20;
  /// Halves of messages that came from one client, and replies that it has yet to read.
  static constexpr std::size_t kept_bytes_max = std::size_t{96} << 20;
  /// Sessions that one link speaks for, and all links of one client.
  static constexpr std::size_t sessions_of_link_max = 1'024;
  static constexpr std::size_t sessions_of_client_max = 4'096;
  /// Reads of one client that are held; more are answered at once.
  static constexpr std::size_t held_max = 256;
  /// A client that waits for answers so long is read from again: they may never come, as those of
  /// requests that were too many for the replica.
  static constexpr std::chrono::milliseconds patience{1'000};

  struct Host {
    std::function<void(Request)> submit;
    /// As that, for a request that may have been executed already: then it is to be answered from
    /// what is kept, as nobody will order it again.
    std::function<void(Request)> submit_again;
    std::function<void(std::uint64_t token, Buffer operation)> read;
    /// SignedViews, oldest first, for those who come with an old view: each is believed by whoever
    /// believed the one before.
    std::function<std::vector<Buffer>()> signed_views;
    /// A StatusTold; null: nobody is told.
    std::function<Buffer()> status = {};
    /// As `read`, to be answered when there is something to tell; null: at once.
    std::function<void(std::uint64_t token, Buffer operation)> hold = {};
  };

  ClientPort(FaultModel model, std::size_t operation_bytes_max, Host host);
  /// Hangs up on all of them.
  ~ClientPort();

  void take(std::shared_ptr<MessageLink> link);
  void received(MessageLink& link, std::uint8_t kind, Bytes message);
  void lost(const MessageLink& link);

  void reply(const Reply& reply);
  void read_reply(std::uint64_t token, bool known, Bytes result);

  /// Hangs up on all links of this client.
  void dismiss(ClientId client);

  /// Tells all of them, if it is new.
  void set_standing(const Standing& standing);
  void tell_view(Bytes signed_view);

  /// To be called now and then.
  void tick(Time now);
  std::size_t links() const { return links_.size(); }
  /// Bytes of what clients ask for, have sent in part, or have yet to read; as of the last `tick`.
  std::size_t bytes() const { return bytes_; }

 private:
  /// As Session::window: more are not under way.
  static constexpr std::size_t window = 256;

  struct Guest;
  /// A client, over all its links.
  struct Account {
    std::vector<Guest*> guests;
    std::size_t sessions = 0, held = 0;
    std::size_t unanswered = 0, unanswered_bytes = 0;
    /// The first tick since the last answer, while it is paused.
    std::optional<Time> waits_since;
    bool paused = false;
  };
  struct Guest {
    std::shared_ptr<MessageLink> link;
    Account* account = nullptr;
    std::size_t sessions = 0;
    /// Its part of the account's.
    std::size_t unanswered = 0, unanswered_bytes = 0;
  };
  struct SessionKey {
    ClientId client = 0;
    std::uint64_t session = 0;
    bool operator==(const SessionKey&) const = default;
  };
  struct HashKey {
    std::size_t operator()(const SessionKey& key) const {
      return static_cast<std::size_t>((key.client ^ (key.session << 20)) * 0x9E3779B97F4A7C15u);
    }
  };
  struct Asked {
    Sequence sequence = 0;
    std::uint32_t bytes = 0;
  };
  struct Session {
    /// Null while the client has not spoken for it here.
    Guest* guest = nullptr;
    /// By sequence modulo the window: what was asked for here and not answered.
    std::vector<Asked> asked;
    /// Up to here there may have been replies that the client did not get.
    Sequence executed = 0;
  };
  static constexpr std::size_t sessions_max = 32'768;
  struct Opening {
    ClientId client = 0;
    Sequence sequence = 0;
    auto operator<=>(const Opening&) const = default;
  };
  struct Read {
    Guest* guest = nullptr;
    std::uint64_t token = 0;
    std::size_t bytes = 0;
    bool is_held = false;
  };

  Guest* guest_of(const MessageLink& link);
  void submit(Guest& guest, Bytes message);
  void read(Guest& guest, Bytes message, bool hold);
  enum class Noted { fresh, again, too_many };
  Noted note(Guest& guest, const Request& request);
  void forget_silent_sessions();
  void pause(Account& account, bool paused);
  /// So much that it may be read from again.
  static bool has_room(const Account& account) {
    return account.unanswered <= unanswered_max / 2 &&
           account.unanswered_bytes <= unanswered_bytes_max / 2;
  }
  void hang_up_on_hoarders();
  void asked(Guest& guest, std::size_t bytes);
  void answered(Guest& guest, std::size_t bytes);
  void send(Guest& guest, const Reply& reply);
  void refuse(Guest& guest, const char* why);
  void forget(const MessageLink* link);

  const FaultModel model_;
  const std::size_t operation_bytes_max_;
  const Host host_;
  std::size_t bytes_ = 0;
  LogLimit warnings_;
  Standing standing_;
  std::unordered_map<const MessageLink*, std::unique_ptr<Guest>> links_;
  /// As they came.
  std::vector<Guest*> guests_;
  std::unordered_map<ClientId, std::unique_ptr<Account>> accounts_;
  std::unordered_map<SessionKey, Session, HashKey> sessions_;
  std::map<Opening, Guest*> openings_;
  std::unordered_map<std::uint64_t, Read> reads_;
  std::uint64_t read_count_ = 0;
};

}  // namespace piracema::smr
