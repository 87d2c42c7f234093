#include "bench/smr/probe.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/clock.h"
#include "base/ensure.h"

namespace piracema::bench {

namespace {

enum Kind : std::uint32_t { request, propose, write_vote, accept_vote, reply };
struct Header {
  std::uint32_t bytes;  // Of the body.
  std::uint32_t kind;
  std::uint64_t number;
};

/// A socket with what came in and what is to go out.
struct Channel {
  int fd = -1;
  std::string in, out;
  void put(std::uint32_t kind, std::uint64_t number, const char* body, std::size_t bytes) {
    const Header header{static_cast<std::uint32_t>(bytes), kind, number};
    out.append(reinterpret_cast<const char*>(&header), sizeof header);
    out.append(body, bytes);
  }
  void flush() {
    while (!out.empty()) {
      const ssize_t count = ::send(fd, out.data(), out.size(), MSG_NOSIGNAL);
      if (count < 0) return;  // Tried again in the next round; the other end may be gone.
      out.erase(0, static_cast<std::size_t>(count));
    }
  }
  /// False at the end.
  bool fill() {
    thread_local std::vector<char> bytes(1 << 18);
    const ssize_t count = ::recv(fd, bytes.data(), bytes.size(), 0);
    if (count == 0) return false;
    if (count > 0) in.append(bytes.data(), static_cast<std::size_t>(count));
    return count > 0 || errno == EAGAIN;
  }
  template <class Visit>
  void each(Visit visit) {
    std::size_t at = 0;
    for (Header header; in.size() - at >= sizeof header; at += sizeof header + header.bytes) {
      std::memcpy(&header, in.data() + at, sizeof header);
      if (in.size() - at - sizeof header < header.bytes) break;
      visit(header, in.data() + at + sizeof header);
    }
    in.erase(0, at);
  }
};

void prepare(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ENSURE(::fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
}

int listening(std::uint16_t& port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ENSURE(::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 && ::listen(fd, 1'024) == 0);
  ENSURE(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  port = ntohs(address.sin_port);
  return fd;
}

/// Says first who it is: the number of a replica, or `nobody` for a client.
constexpr std::uint32_t nobody = 1'000;
int dial(std::uint16_t port, std::uint32_t who) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  ENSURE(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  ENSURE(::send(fd, &who, sizeof who, 0) == sizeof who);
  prepare(fd);
  return fd;
}

class Watched {
 public:
  Watched() : epoll_(::epoll_create1(0)) {}
  void add(int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    ENSURE(::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0);
  }
  template <class Visit>
  void wait(int timeout_ms, Visit visit) {
    epoll_event events[256];
    const int count = ::epoll_wait(epoll_, events, 256, timeout_ms);
    for (int i = 0; i < count; ++i) visit(events[i].data.fd);
  }

 private:
  int epoll_;
};

class ProbeReplica {
 public:
  ProbeReplica(const Load& load, std::uint32_t me, int door,
               const std::vector<std::uint16_t>& ports)
      : load_(load), me_(me), door_(door) {
    watched_.add(door_);
    for (std::uint32_t i = 0; i < me_; ++i) take(dial(ports[i], me_), i);
  }
  [[noreturn]] void run() {
    while (true) {
      watched_.wait(-1, [this](int fd) { fd == door_ ? accept() : read(channels_.at(fd)); });
      if (me_ == 0 && !in_flight_ && !batch_.empty()) begin();
      for (auto& [fd, channel] : channels_) channel.flush();
    }
  }

 private:
  void accept() {
    const int fd = ::accept(door_, nullptr, nullptr);
    std::uint32_t who = 0;
    ENSURE(::recv(fd, &who, sizeof who, MSG_WAITALL) == sizeof who);
    prepare(fd);
    take(fd, who);
  }
  void take(int fd, std::uint32_t who) {
    channels_[fd].fd = fd;
    if (who != nobody) peers_[who] = fd;
    watched_.add(fd);
  }
  void read(Channel& channel) {
    if (!channel.fill()) ::_exit(0);
    channel.each([&](const Header& header, const char* body) { handle(channel, header, body); });
  }
  void handle(Channel& channel, const Header& header, const char* body) {
    switch (header.kind) {
      case request:
        if (early_.erase(header.number) != 0) return channel.put(reply, header.number, nullptr, 0);
        askers_[header.number] = channel.fd;
        if (me_ != 0) return;
        batch_.append(reinterpret_cast<const char*>(&header), sizeof header);
        batch_.append(body, header.bytes);
        return;
      case propose: {
        Round& round = rounds_[header.number];
        round.proposal.assign(body, header.bytes);
        vote(header.number, round, load_.byzantine ? write_vote : accept_vote);
        return check(header.number, round);
      }
      default: {
        // Of a round that is over, or of one whose proposal has yet to come.
        if (header.number <= over_) return;
        Round& round = rounds_[header.number];
        (header.kind == write_vote ? round.writes : round.accepts) += 1;
        check(header.number, round);
      }
    }
  }

  struct Round {
    std::string proposal;
    std::size_t writes = 0, accepts = 0;
    bool accepted = false;
  };

  void begin() {
    in_flight_ = true;
    const std::uint64_t number = over_ + 1;
    Round& round = rounds_[number];
    round.proposal.swap(batch_);
    for (const auto& [who, fd] : peers_) {
      channels_.at(fd).put(propose, number, round.proposal.data(), round.proposal.size());
    }
    vote(number, round, load_.byzantine ? write_vote : accept_vote);
  }
  // Crash: accepts go to the leader alone.
  void vote(std::uint64_t number, Round& round, std::uint32_t kind) {
    (kind == write_vote ? round.writes : round.accepts) += 1;
    for (const auto& [who, fd] : peers_) {
      if (load_.byzantine || who == 0) channels_.at(fd).put(kind, number, nullptr, 0);
    }
  }
  void check(std::uint64_t number, Round& round) {
    const std::size_t quorum = load_.byzantine ? 3 : 2;
    if (round.proposal.empty()) return;
    if (load_.byzantine && !round.accepted && round.writes >= quorum) {
      round.accepted = true;
      vote(number, round, accept_vote);
    }
    const bool counts = load_.byzantine || me_ == 0;
    if (counts && round.accepts < quorum) return;
    if (counts) answer(round.proposal);
    over_ = number;
    rounds_.erase(rounds_.begin(), rounds_.upper_bound(number));
    in_flight_ = false;
  }
  void answer(const std::string& proposal) {
    for (std::size_t at = 0; at < proposal.size();) {
      Header header;
      std::memcpy(&header, proposal.data() + at, sizeof header);
      at += sizeof header + header.bytes;
      // Who has not had it from the client answers when it comes.
      const auto asker = askers_.find(header.number);
      if (asker == askers_.end()) {
        early_.insert(header.number);
        continue;
      }
      channels_.at(asker->second).put(reply, header.number, nullptr, 0);
      askers_.erase(asker);
    }
  }

  const Load load_;
  const std::uint32_t me_;
  const int door_;
  Watched watched_;
  std::unordered_map<int, Channel> channels_;
  std::map<std::uint32_t, int> peers_;
  std::unordered_map<std::uint64_t, int> askers_;
  std::unordered_set<std::uint64_t> early_;
  std::map<std::uint64_t, Round> rounds_;
  std::uint64_t over_ = 0;
  std::string batch_;
  bool in_flight_ = false;
};

}  // namespace

double cpu_seconds(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  unsigned long user = 0, system = 0;
  std::sscanf(text.c_str() + name_end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
              &user, &system);
  return static_cast<double>(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

void set_percentiles(Rate& rate, std::vector<std::uint32_t>& times) {
  if (times.empty()) return;
  std::sort(times.begin(), times.end());
  rate.p50_us = times[times.size() / 2];
  rate.p99_us = times[times.size() * 99 / 100];
}

Rate run_probe(const Load& load) {
  const std::size_t n = load.replicas();
  std::vector<std::uint16_t> ports(n);
  std::vector<int> doors(n);
  for (std::size_t i = 0; i < n; ++i) doors[i] = listening(ports[i]);
  std::vector<pid_t> pids;
  for (std::uint32_t i = 0; i < n; ++i) {
    const pid_t pid = ::fork();
    ENSURE(pid >= 0);
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ProbeReplica(load, i, doors[i], ports).run();
    }
    pids.push_back(pid);
  }
  // Client c's socket to replica r; with crashes the leader alone is asked.
  Watched watched;
  std::map<int, Channel> channels;
  const std::size_t connections = load.multiplexed ? 1 : load.clients;
  std::vector<std::vector<int>> sockets(connections);
  for (auto& of_client : sockets) {
    for (std::size_t r = 0; r < (load.byzantine ? n : 1); ++r) {
      const int fd = dial(ports[r], nobody);
      of_client.push_back(fd);
      channels[fd].fd = fd;
      watched.add(fd);
    }
  }

  struct Waiting {
    Time since{};
    std::size_t replies = 0;
    std::uint64_t number = 0;
  };
  std::vector<Waiting> waiting(load.clients);
  const std::string body(load.bytes, 'x');
  const auto ask = [&](std::size_t client) {
    // The number is the client's: how often it has asked, and who it is.
    waiting[client] = {now(), 0, waiting[client].number + load.clients};
    for (const int fd : sockets[client % connections]) {
      channels[fd].put(request, waiting[client].number + client, body.data(), body.size());
    }
  };
  std::vector<std::uint32_t> times;
  const Time begin =
      now() + std::chrono::duration_cast<Time>(std::chrono::duration<double>(load.warmup_s));
  const Time end =
      begin + std::chrono::duration_cast<Time>(std::chrono::duration<double>(load.seconds));
  double cpu = 0;
  const auto all_cpu = [&] {
    double sum = cpu_seconds(::getpid());
    for (const pid_t pid : pids) sum += cpu_seconds(pid);
    return sum;
  };
  bool measuring = false;
  for (std::size_t client = 0; client < load.clients; ++client) ask(client);
  for (Time time = now(); time < end; time = now()) {
    if (!measuring && time >= begin) {
      measuring = true;
      cpu = all_cpu();
      times.clear();
    }
    watched.wait(10, [&](int fd) {
      Channel& channel = channels.at(fd);
      channel.fill();
      channel.each([&](const Header& header, const char*) {
        const std::size_t client = header.number % load.clients;
        if (waiting[client].number + client != header.number) return;
        if (++waiting[client].replies < (load.byzantine ? 2u : 1u)) return;
        times.push_back(
            static_cast<std::uint32_t>((now() - waiting[client].since).count() / 1'000));
        ask(client);
      });
    });
    for (auto& [fd, channel] : channels) channel.flush();
  }
  Rate rate;
  const auto count = static_cast<double>(times.size());
  rate.operations_per_second = count / load.seconds;
  rate.cpu_us = (all_cpu() - cpu) / std::max(count, 1.0) * 1e6;
  set_percentiles(rate, times);
  for (const pid_t pid : pids) ::kill(pid, SIGKILL);
  for (const pid_t pid : pids) ::waitpid(pid, nullptr, 0);
  for (const auto& [fd, channel] : channels) ::close(fd);
  for (const int door : doors) ::close(door);
  return rate;
}

}  // namespace piracema::bench
