#include <piracema/smr/find_leader.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <tuple>

#include "base/clock.h"
#include "base/fd.h"
#include "base/text.h"
#include "net/socket/address.h"
#include "net/socket/host_port.h"
#include "smr/link/leader_question.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace piracema::smr {

namespace {

constexpr std::size_t header_bytes = 12, answer_bytes_max = 512;

/// One replica that is asked, on a socket that never blocks.
class Asked {
 public:
  Asked(std::string address, const std::vector<net::Address>& found, const std::string& group)
      : address_(std::move(address)) {
    const Buffer question = leader_question(group);
    wire::Writer writer(out_);
    writer.number(static_cast<std::uint32_t>(question.size()));
    writer.number(std::uint64_t{0});
    out_.append(question.data(), question.size());
    const net::Address& to = found.front();
    socket_ = Fd(::socket(to.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const bool fails =
        !socket_ || (::connect(socket_.get(), to.data(), to.size()) != 0 && errno != EINPROGRESS);
    if (fails) {
      end(with_errno("connecting"));
    }
  }

  bool is_open() const { return static_cast<bool>(socket_); }
  pollfd wanted() const {
    const bool says = said_ < out_.size();
    return {socket_.get(), static_cast<short>(says ? POLLOUT : POLLIN), 0};
  }
  void go_on() {
    if (said_ < out_.size()) return say();
    hear();
  }
  const std::optional<LeaderAnswer>& answer() const { return answer_; }
  const std::string& address() const { return address_; }
  /// Why there is none.
  const std::string& why() const { return why_; }

 private:
  void say() {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    errno = error;
    if (error != 0) return end(with_errno("connecting"));
    const ssize_t count =
        ::send(socket_.get(), out_.data() + said_, out_.size() - said_, MSG_NOSIGNAL);
    if (count < 0 && errno != EAGAIN && errno != EINTR) return end(with_errno("asking"));
    if (count > 0) said_ += static_cast<std::size_t>(count);
  }
  void hear() {
    std::byte bytes[answer_bytes_max];
    const ssize_t count = ::read(socket_.get(), bytes, sizeof bytes);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count < 0) return end(with_errno("reading"));
    // Whoever is of another group, or of a version that knows no such question, hangs up.
    if (count == 0) return end("hung up: it is of another group or version");
    in_.append(bytes, static_cast<std::size_t>(count));
    if (in_.size() < header_bytes) return;
    const std::size_t size = wire::Reader(in_).number<std::uint32_t>();
    if (size > answer_bytes_max) return end("an answer that no replica gives");
    if (in_.size() < header_bytes + size) return;
    auto answer = decode_leader_answer(Bytes(in_).subspan(header_bytes, size));
    if (!answer) return end(answer.error().message);
    answer_ = *std::move(answer);
    end("");
  }
  void end(std::string why) {
    why_ = std::move(why);
    socket_.close();
  }

  const std::string address_;
  Fd socket_;
  Buffer out_, in_;
  std::size_t said_ = 0;
  std::optional<LeaderAnswer> answer_;
  std::string why_ = "no answer in time";
};

Leader leader_of(const LeaderAnswer& answer) {
  return {answer.leader, answer.address, answer.view, answer.regency};
}

// Whoever was cut off knows of an earlier one only.
std::optional<Leader> agreed(const std::vector<Asked>& all, std::size_t wanted) {
  std::map<std::tuple<ViewId, Regency, ReplicaId>, std::size_t> votes;
  for (const Asked& one : all) {
    if (!one.answer() || one.answer()->address.empty()) continue;
    const LeaderAnswer& answer = *one.answer();
    if (++votes[{answer.view, answer.regency, answer.leader}] >= wanted) return leader_of(answer);
  }
  return std::nullopt;
}

std::optional<Leader> latest(const std::vector<Asked>& all) {
  std::optional<Leader> best;
  for (const Asked& one : all) {
    if (!one.answer() || one.answer()->address.empty()) continue;
    const Leader next = leader_of(*one.answer());
    if (!best || std::tie(next.view, next.regency) > std::tie(best->view, best->regency))
      best = next;
  }
  return best;
}

void ask_until(std::vector<Asked>& all, Time deadline, std::size_t wanted) {
  while (!agreed(all, wanted)) {
    std::vector<pollfd> sockets;
    std::vector<Asked*> whose;
    for (Asked& one : all) {
      if (!one.is_open()) continue;
      sockets.push_back(one.wanted());
      whose.push_back(&one);
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - now());
    if (sockets.empty() || left.count() <= 0) return;
    ::poll(sockets.data(), sockets.size(), static_cast<int>(left.count()));
    for (std::size_t i = 0; i < sockets.size(); ++i) {
      if (sockets[i].revents != 0) whose[i]->go_on();
    }
  }
}

}  // namespace

Result<Leader> find_leader(const std::string& group, const std::vector<std::string>& addresses,
                           std::chrono::milliseconds timeout) {
  if (addresses.empty()) return Error{Errc::config, "who leads: want an address, found none"};
  const Time deadline = now() + Time(timeout);
  std::vector<Asked> all;
  std::string trouble;
  const auto add = [&trouble](const std::string& address, const std::string& why) {
    trouble += concat(trouble.empty() ? "" : "; ", address, ": ", why);
  };
  for (const std::string& address : addresses) {
    const auto place = net::HostPort::parse(address);
    if (!place) return place.error();
    const auto found = place->look_up();
    if (found) {
      all.emplace_back(address, *found, group);
    } else {
      add(address, found.error().message);
    }
  }
  const std::size_t wanted = addresses.size() / 2 + 1;
  ask_until(all, deadline, wanted);
  if (auto leader = agreed(all, wanted)) return *std::move(leader);
  if (auto leader = latest(all)) return *std::move(leader);
  for (const Asked& one : all) add(one.address(), one.answer() ? "knows no leader" : one.why());
  const bool others = std::any_of(
      all.begin(), all.end(), [](const Asked& one) { return one.why().starts_with("hung up"); });
  return Error{others ? Errc::refused : Errc::timeout, "who leads: " + trouble};
}

}  // namespace piracema::smr
