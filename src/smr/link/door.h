#pragma once

#include <piracema/error.h>

#include <list>
#include <memory>
#include <string>

#include "net/socket/listener.h"
#include "smr/link/link.h"

namespace piracema::smr {

/// Where replicas and clients come in. Few strangers stand in it at a time: another one pushes the
/// oldest out, so that those who say nothing keep nobody away. Belongs to the poller's thread.
class Door {
 public:
  static constexpr std::size_t strangers_max = 256;

  /// `known` takes a link over; events for it come after that. `self` outlives the door.
  struct Host {
    Handshake::KeyOf key_of;
    std::function<void(std::shared_ptr<Link>)> known;
    std::function<void(Link&, std::uint8_t kind, Bytes message)> received;
    std::function<void(Link&, const Error& why)> lost;
  };

  /// `address` as net::Address::parse reads it. Errc::config, Errc::io.
  static Result<std::unique_ptr<Door>> open(net::Poller& poller, FlushList& flush_list,
                                            const Self& self, const std::string& address, Host host,
                                            const Link::Limits& limits);
  ~Door();

  std::string address() const { return listener_->address(); }

 private:
  Door(net::Poller& poller, FlushList& flush_list, const Self& self, Host host,
       const Link::Limits& limits);

  struct Stranger {
    std::shared_ptr<Link> link;
    std::string address;
  };
  void accept(Fd socket, const net::Address& peer);
  Stranger take(const Link& link);
  void refuse(const std::string& address, const std::string& why);

  net::Poller& poller_;
  FlushList& flush_list_;
  const Self& self_;
  const Host host_;
  const Link::Limits limits_;
  std::unique_ptr<net::Listener> listener_;
  /// The oldest first.
  std::list<Stranger> strangers_;

  // Of what is said about strangers: so many in the second that began then.
  Time second_{};
  std::uint64_t refused_ = 0;
};

}  // namespace piracema::smr
