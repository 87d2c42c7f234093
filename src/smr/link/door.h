#pragma once

#include <piracema/error.h>

#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/log_limit.h"
#include "net/socket/listener.h"
#include "smr/link/link.h"
#include "smr/link/stranger_places.h"

namespace piracema::smr {

/// Where replicas and clients come in. Few strangers stand in it at a time (StrangerPlaces), and
/// each is read in the turn of the address that it comes from: so an address that sends strangers
/// without end keeps nobody of another one away. Belongs to the poller's thread.
class Door {
 public:
  /// `known` takes a link over; events for it come after that. `self` outlives the door.
  struct Host {
    Handshake::KeyOf key_of;
    /// Told to strangers who ask for it, who then have to go; may be null.
    std::function<LeaderAnswer()> leader;
    /// Whether a member is to be reached at this numeric address; may be null.
    std::function<bool(const std::string& host)> is_member_address;
    std::function<void(std::shared_ptr<Link>)> known;
    std::function<void(Link&, std::uint8_t kind, Bytes message)> received;
    std::function<void(Link&, const Error& why)> lost;
  };

  /// `address` as net::HostPort::parse reads it; one by name is looked up first. `turns` outlives
  /// the links. Errc::config, Errc::io.
  static Result<std::unique_ptr<Door>> open(net::Poller& poller, FlushList& flush_list,
                                            ReadTurns& turns, const Self& self,
                                            const std::string& address, Host host,
                                            const Link::Limits& limits);
  ~Door();

  std::string address() const { return listener_->address(); }

 private:
  Door(net::Poller& poller, FlushList& flush_list, ReadTurns& turns, const Self& self, Host host,
       const Link::Limits& limits);

  struct Stranger {
    std::shared_ptr<Link> link;
    std::string address;
    /// What its places are counted by.
    std::string source;
    bool is_member = false;
  };
  void accept(Fd socket, const net::Address& peer);
  Stranger take(StrangerPlaces::Number number);
  void refuse(const std::string& address, const std::string& why);

  net::Poller& poller_;
  FlushList& flush_list_;
  ReadTurns& turns_;
  const Self& self_;
  const Host host_;
  const Link::Limits limits_;
  std::unique_ptr<net::Listener> listener_;
  StrangerPlaces places_;
  /// Where members came from.
  std::set<std::string> member_hosts_;
  std::map<StrangerPlaces::Number, Stranger> strangers_;
  StrangerPlaces::Number count_ = 0;
  LogLimit refusals_;
};

}  // namespace piracema::smr
