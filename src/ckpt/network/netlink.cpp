#include "ckpt/network/netlink.h"

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "base/text.h"
#include "ckpt/network/netlink_message.h"

namespace piracema::ckpt {

Result<Netlink> Netlink::open() {
  Fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!socket) return Error{Errc::io, with_errno("netlink socket")};
  return Netlink(std::move(socket));
}

Result<Done> Netlink::ask(NetlinkMessage& request, const std::string& what) {
  request.header().nlmsg_seq = ++count_;
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  if (::sendto(socket_.get(), &request.header(), request.header().nlmsg_len, 0,
               reinterpret_cast<sockaddr*>(&kernel), sizeof kernel) < 0) {
    return Error{Errc::io, with_errno(what)};
  }
  alignas(nlmsghdr) std::array<std::byte, 4096> answer;
  const ssize_t bytes = ::recv(socket_.get(), answer.data(), answer.size(), 0);
  if (bytes < 0) return Error{Errc::io, with_errno(what)};
  const auto& head = *reinterpret_cast<const nlmsghdr*>(answer.data());
  if (head.nlmsg_type != NLMSG_ERROR) return Error{Errc::io, what + ": no answer to the request"};
  errno = -static_cast<const nlmsgerr*>(NLMSG_DATA(&head))->error;
  if (errno != 0) return Error{Errc::io, with_errno(what)};
  return Done{};
}

Result<Done> Netlink::add_veth(const std::string& name, const std::string& peer) {
  NetlinkMessage request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  const ifinfomsg link{};
  request.append(&link, sizeof link);
  request.text(IFLA_IFNAME, name);
  const std::size_t info = request.begin(IFLA_LINKINFO);
  request.text(IFLA_INFO_KIND, "veth");
  const std::size_t data = request.begin(IFLA_INFO_DATA);
  const std::size_t other = request.begin(VETH_INFO_PEER);
  request.append(&link, sizeof link);
  request.text(IFLA_IFNAME, peer);
  request.end(other);
  request.end(data);
  request.end(info);
  return ask(request, concat("network link ", name, ": cannot make it"));
}

Result<Done> Netlink::add_address(const std::string& name, std::uint32_t address,
                                  unsigned prefix_bits) {
  NetlinkMessage request(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
  ifaddrmsg message{};
  message.ifa_family = AF_INET;
  message.ifa_prefixlen = static_cast<std::uint8_t>(prefix_bits);
  message.ifa_index = ::if_nametoindex(name.c_str());
  const std::uint32_t in_order = htonl(address);
  request.append(&message, sizeof message);
  request.attribute(IFA_LOCAL, &in_order, sizeof in_order);
  request.attribute(IFA_ADDRESS, &in_order, sizeof in_order);
  return ask(request, concat("network link ", name, ": cannot give it an address"));
}

namespace {

ifinfomsg link_of(const std::string& name) {
  ifinfomsg link{};
  link.ifi_index = static_cast<int>(::if_nametoindex(name.c_str()));
  return link;
}

}  // namespace

Result<Done> Netlink::set_up(const std::string& name, bool up) {
  NetlinkMessage request(RTM_NEWLINK, 0);
  ifinfomsg link = link_of(name);
  link.ifi_flags = up ? static_cast<unsigned>(IFF_UP) : 0u;
  link.ifi_change = IFF_UP;
  request.append(&link, sizeof link);
  return ask(request, concat("network link ", name, ": cannot switch it ", up ? "on" : "off"));
}

Result<Done> Netlink::set_mtu(const std::string& name, std::uint32_t mtu) {
  NetlinkMessage request(RTM_NEWLINK, 0);
  const ifinfomsg link = link_of(name);
  request.append(&link, sizeof link);
  request.attribute(IFLA_MTU, &mtu, sizeof mtu);
  return ask(request, concat("network link ", name, ": cannot take packets of ", mtu, " bytes"));
}

Result<std::uint32_t> parse_ipv4(const std::string& text) {
  in_addr address{};
  if (::inet_pton(AF_INET, text.c_str(), &address) == 1) return ntohl(address.s_addr);
  return Error{Errc::config, concat("want an address such as 10.77.0.1, found '", text, "'")};
}

}  // namespace piracema::ckpt
