#include "jobs/streams/stream_glance.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/parse.h"
#include "base/text.h"

namespace piracema::jobs {

StreamGlance::StreamGlance(net::Poller& poller, const StreamAddress& address, Done done)
    : poller_(poller), done_(std::move(done)) {
  request_ = concat(
      "GET /api/v1/job HTTP/1.1\r\nHost: ", address.where.text(), "\r\nConnection: close\r\n",
      address.token.empty() ? "" : concat("Authorization: Bearer ", address.token, "\r\n"), "\r\n");
  socket_ = Fd(::socket(address.where.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const bool is_on_its_way =
      socket_ && (::connect(socket_.get(), address.where.data(), address.where.size()) == 0 ||
                  errno == EINPROGRESS);
  if (!is_on_its_way) {
    const Error lost{Errc::lost, with_errno("nobody is where it shows itself")};
    timer_ = poller_.at(now(), [this, lost] {
      timer_.reset();
      end(lost);
    });
    return;
  }
  timer_ = poller_.at(now() + time_max, [this] {
    timer_.reset();
    end(Error{Errc::timeout,
              concat("it has not answered within ",
                     std::chrono::duration_cast<std::chrono::seconds>(time_max).count(), " s")});
  });
  poller_.watch(socket_.get(), EPOLLOUT, [this](std::uint32_t) { send(); });
}

StreamGlance::~StreamGlance() {
  if (timer_) poller_.cancel(*timer_);
  if (socket_) poller_.forget(socket_.get());
}

void StreamGlance::send() {
  const ssize_t count = ::send(socket_.get(), request_.data(), request_.size(), MSG_NOSIGNAL);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count < 0) return end(Error{Errc::lost, with_errno("nobody is where it shows itself")});
  request_.erase(0, static_cast<std::size_t>(count));
  if (!request_.empty()) return;
  poller_.forget(socket_.get());
  poller_.watch(socket_.get(), EPOLLIN, [this](std::uint32_t) { read(); });
}

void StreamGlance::read() {
  std::array<char, 16'384> bytes;
  const ssize_t count = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count < 0) return end(Error{Errc::lost, with_errno("it has hung up")});
  if (count == 0) return end(body_of_answer(std::move(answer_)));
  answer_.append(bytes.data(), static_cast<std::size_t>(count));
  if (answer_.size() > bytes_max) {
    end(Error{Errc::corrupt, concat("it answers with more than ", bytes_max, " bytes")});
  }
}

// Whoever is told may destroy this.
void StreamGlance::end(Result<std::string> body) {
  if (timer_) poller_.cancel(*std::exchange(timer_, std::nullopt));
  if (socket_) poller_.forget(socket_.get());
  socket_.close();
  const Done done = std::exchange(done_, nullptr);
  done(std::move(body));
}

Result<std::string> body_of_answer(std::string answer) {
  constexpr std::size_t code_at = 9, code_digits = 3;
  const std::size_t head = answer.find("\r\n\r\n");
  const bool is_http =
      answer.starts_with("HTTP/1.") && head != std::string::npos && head >= code_at + code_digits;
  const auto code =
      is_http ? parse_number<unsigned>(answer.substr(code_at, code_digits)) : std::nullopt;
  if (!code) return Error{Errc::corrupt, "what is where it shows itself does not speak HTTP"};
  if (*code != 200) return Error{Errc::refused, concat("it answers with the code ", *code)};
  return answer.erase(0, head + 4);
}

}  // namespace piracema::jobs
