#pragma once

#include <memory>
#include <optional>

#include "net/socket/dial.h"
#include "net/socket/host_port.h"
#include "smr/link/link.h"

namespace piracema::smr {

/// Keeps a link to one replica: called until it answers, and again when the link is lost.
/// Belongs to the poller's thread.
class Caller {
 public:
  struct Whom {
    PeerName name;
    PublicKey key{};
    net::HostPort address;
  };

  /// An attempt has come to nothing, or the link is lost, and another attempt will follow.
  /// `is_refused`: the peer can be reached, and says that it does not know us.
  using OnFailed = std::function<void(const Error& why, bool is_refused)>;

  /// `self` outlives it. Events are those of each link, one after the other; `lost` is told only
  /// for links that were known.
  Caller(net::Poller& poller, FlushList& flush_list, const Self& self, Whom whom,
         Link::Events events, const Link::Limits& limits, OnFailed on_failed = nullptr);
  /// Hangs up.
  ~Caller();
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  /// The link while the peer is known, else null.
  Link* link() const { return link_ && link_->is_known() ? link_.get() : nullptr; }
  /// Why the last attempt failed; empty before that, and after one that did not.
  const std::string& why() const { return why_; }

 private:
  void dial();
  void connect(const net::Address& address);
  void greet(Fd socket);
  void failed(const Error& why, bool is_refused = false);

  net::Poller& poller_;
  FlushList& flush_list_;
  const Self& self_;
  const Whom whom_;
  const Link::Events events_;
  const Link::Limits limits_;
  const OnFailed on_failed_;

  std::unique_ptr<net::Lookup> lookup_;
  std::unique_ptr<net::Dial> dial_;
  std::shared_ptr<Link> link_;
  std::optional<net::Poller::Timer> next_;
  std::chrono::milliseconds pause_;
  Time known_at_{};
  std::size_t attempts_ = 0;
  std::string why_;
};

}  // namespace piracema::smr
