#include "ckpt/hosts/host_agent.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <thread>
#include <utility>

#include "base/text.h"
#include "ckpt/capsule/criu.h"
#include "ckpt/network/netlink.h"
#include "os/process_tree.h"
#include "store/disk/file_lock.h"
#include "wire/fields.h"

namespace piracema::ckpt {

namespace {

Result<std::uint32_t> resolve(const std::string& host) {
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_family = AF_INET;
  const int failed = ::getaddrinfo(host.c_str(), nullptr, &wanted, &found);
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, ::freeaddrinfo);
  if (failed == 0 && all) {
    return ntohl(reinterpret_cast<const sockaddr_in*>(all->ai_addr)->sin_addr.s_addr);
  }
  return Error{
      Errc::config,
      concat("host '", host, "' is not known here: ", std::string_view(::gai_strerror(failed)))};
}

}  // namespace

HostAgent::HostAgent(std::string program)
    : program_(std::move(program)), keeper_(STDIN_FILENO, STDOUT_FILENO) {}

int HostAgent::run() {
  // The keeper decides: what a scheduler or a terminal sends to all is for it.
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE}) {
    ::signal(number, SIG_IGN);
  }
  heard_ = now();
  poller_.watch(keeper_.in(), EPOLLIN, [this](std::uint32_t) { hear(); });
  sign();
  while (!ended_) poller_.run_once(std::chrono::milliseconds(-1));
  return *ended_;
}

void HostAgent::say(FromAgent kind, Bytes head) {
  if (!keeper_.send(static_cast<std::uint8_t>(kind), head)) ended_ = 1;
}

void HostAgent::fail(const std::string& why) {
  say(FromAgent::failed, as_bytes(why));
  ended_ = 1;
}

void HostAgent::sign() {
  if (now() - heard_ > keeper_silence) {
    ended_ = 1;
    return;
  }
  HostAlive alive;
  if (capsule_) {
    const JobMemory memory = job_memory(capsule_->pid());
    alive = {memory.resident, memory.swapped, memory.processes};
  }
  say(FromAgent::alive, wire::encode(alive));
  poller_.at(now() + sign_interval, [this] { sign(); });
}

void HostAgent::hear() {
  if (!keeper_.fill()) {
    ended_ = 0;
    return;
  }
  while (!ended_) {
    const auto frame = keeper_.next();
    if (!frame) return fail(frame.error().message);
    if (!*frame) return;
    heard_ = now();
    take(**frame);
  }
}

void HostAgent::take(const wire::Frame& frame) {
  switch (static_cast<ToAgent>(frame.kind)) {
    case ToAgent::open: {
      auto message = wire::decode<HostOpen>(frame.head);
      return message ? open(*message) : fail(message.error().message);
    }
    case ToAgent::link: {
      auto message = wire::decode<HostLink>(frame.head);
      return message ? link(*message) : fail(message.error().message);
    }
    case ToAgent::order:
      return order(frame.head);
    case ToAgent::alive:
      return;
  }
  fail("a message of no kind that is known");
}

// Who had this place before may still be ending, or be a host that was given up and does not know.
void HostAgent::open(const HostOpen& open) {
  open_ = open;
  auto lock = store::lock_file(concat(open_.directory, "/log/host-", open_.number + 1), "host");
  if (!lock && lock.error().code == Errc::refused) {
    poller_.at(now() + std::chrono::milliseconds(100), [this] { this->open(HostOpen(open_)); });
    return;
  }
  if (!lock) return fail(lock.error().message);
  lock_ = *std::move(lock);
  if (auto opened = open_capsule(); !opened) fail(opened.error().message);
}

Result<Done> HostAgent::open_capsule() {
  if (auto may = check_may_make_capsules(); !may) return may.error();
  const auto criu = find_criu(open_.criu);
  if (!criu) return criu.error();
  auto network = open_overlay_socket();
  if (!network) return network.error();
  const auto number = static_cast<std::size_t>(open_.number);
  if (number >= open_.names.size()) return Error{Errc::corrupt, "a number that no host has"};
  auto capsule = Capsule::open({.criu = criu->path,
                                .hook = program_,
                                .host_name = open_.names[number],
                                .address = address_of(number),
                                .network = network->get(),
                                .token = open_.token,
                                .names = open_.names});
  if (!capsule) return capsule.error();
  network_ = *std::move(network);
  capsule_ = *std::move(capsule);
  poller_.watch(capsule_->handle(), EPOLLIN, [this](std::uint32_t) { hear_capsule(); });
  const unsigned cores = std::thread::hardware_concurrency();
  say(FromAgent::opened, wire::encode(HostOpened{port_of(network_), cores == 0 ? 1 : cores}));
  return Done{};
}

void HostAgent::link(const HostLink& link) {
  if (!capsule_) return;
  Order order{.kind = OrderKind::link};
  for (const auto& peer : link.peers) {
    const auto host = resolve(peer.host);
    if (!host) return fail(host.error().message);
    const auto address = parse_ipv4(address_of(static_cast<std::size_t>(peer.number)));
    if (!address) return fail(address.error().message);
    order.peers.push_back({*address, *host, peer.port});
  }
  order.mtu = overlay_mtu(order.peers);
  if (auto sent = capsule_->send(std::move(order)); !sent) fail(sent.error().message);
}

void HostAgent::order(Bytes bytes) {
  if (!capsule_) return;
  auto order = wire::decode<Order>(bytes);
  if (!order) return fail(order.error().message);
  if (auto sent = capsule_->send(*std::move(order)); !sent) fail(sent.error().message);
}

void HostAgent::hear_capsule() {
  while (!ended_) {
    const auto report = capsule_->receive();
    if (!report && report.error().code == Errc::not_found) return;
    if (!report) {
      poller_.forget(capsule_->handle());
      return fail("its capsule was killed");
    }
    say(FromAgent::report, wire::encode(*report));
  }
}

}  // namespace piracema::ckpt
