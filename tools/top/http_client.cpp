#include "tools/top/http_client.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "base/fd.h"
#include "base/parse.h"
#include "base/text.h"
#include "net/socket/host_port.h"

namespace piracema::tools {

namespace {

constexpr timeval patience{5, 0};
constexpr std::size_t response_bytes_max = 16 << 20;

Error no_answer(const JobAddress& address) {
  if (errno == EAGAIN || errno == EINPROGRESS) errno = ETIMEDOUT;
  return {Errc::io, with_errno(address.host_port)};
}

Result<Fd> dial(const JobAddress& address) {
  const auto where = net::HostPort::parse(address.host_port);
  if (!where) return where.error();
  const auto numbers = where->look_up();
  if (!numbers) return numbers.error();
  for (const net::Address& number : *numbers) {
    Fd socket(::socket(number.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (::connect(socket.get(), number.data(), number.size()) == 0) return socket;
  }
  return no_answer(address);
}

Result<Done> send_all(const Fd& socket, std::string_view text, const JobAddress& address) {
  while (!text.empty()) {
    const ssize_t count = ::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (count <= 0) return no_answer(address);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return Done{};
}

Result<std::string> read_all(const Fd& socket, const JobAddress& address) {
  std::string text;
  char bytes[16'384];
  for (;;) {
    const ssize_t count = ::recv(socket.get(), bytes, sizeof bytes, 0);
    if (count < 0) return no_answer(address);
    if (count == 0) return text;
    text.append(bytes, static_cast<std::size_t>(count));
    if (text.size() > response_bytes_max) {
      return Error{Errc::corrupt, concat(address.host_port, ": want at most ",
                                         human_bytes(static_cast<double>(response_bytes_max)))};
    }
  }
}

}  // namespace

Result<JobAddress> parse_job_address(std::string_view text) {
  const std::string whole(text);
  JobAddress address;
  constexpr std::string_view scheme = "http://", token = "token=";
  if (text.starts_with(scheme)) text.remove_prefix(scheme.size());
  const std::size_t end = std::min(text.find_first_of("/?"), text.size());
  if (const std::size_t at = text.find(token, end); at != text.npos) {
    const std::string_view rest = text.substr(at + token.size());
    address.token = rest.substr(0, rest.find('&'));
  }
  address.host_port = text.substr(0, end);
  if (parse_number<std::uint16_t>(address.host_port)) {
    address.host_port = "127.0.0.1:" + address.host_port;
  }
  const bool is_plain = std::all_of(address.token.begin(), address.token.end(),
                                    [](char c) { return c > ' ' && c < 127; });
  if (net::HostPort::parse(address.host_port) && is_plain) return address;
  return Error{Errc::usage, concat("want where the job is shown, such as 8080 or "
                                   "http://127.0.0.1:8080, found '",
                                   whole, "'")};
}

Result<JobAddress> find_job(std::string_view text, const std::string& token_file) {
  std::string in_file;
  if (text.starts_with('/') || text.starts_with("./")) {
    std::ifstream file{std::string(text)};
    if (!(file >> in_file)) {
      return Error{Errc::config,
                   concat("no job is shown in '", text,
                          "': want a file with its address, which is there while it runs")};
    }
    text = in_file;
  }
  auto address = parse_job_address(text);
  if (!address || token_file.empty()) return address;
  std::ifstream in(token_file);
  if (in >> address->token) return address;
  return Error{Errc::config, concat("--http-token ", token_file, ": want a file with a token")};
}

namespace {

Result<HttpAnswer> ask(const JobAddress& address, const std::string& what,
                       const std::string& headers) {
  const auto socket = dial(address);
  if (!socket) return socket.error();
  const std::string request = concat(
      what, " HTTP/1.1\r\nHost: ", address.host_port, "\r\nConnection: close\r\n", headers,
      address.token.empty() ? "" : concat("Authorization: Bearer ", address.token, "\r\n"), "\r\n");
  if (auto sent = send_all(*socket, request, address); !sent) return sent.error();
  auto answer = read_all(*socket, address);
  if (!answer) return answer.error();
  const std::size_t head = answer->find("\r\n\r\n");
  const bool is_http =
      answer->starts_with("HTTP/1.") && head != answer->npos && answer->size() >= 13;
  const auto code = is_http ? parse_number<int>(answer->substr(9, 3)) : std::nullopt;
  if (!code) {
    return Error{Errc::corrupt, concat(address.host_port, ": what is there does not speak HTTP")};
  }
  return HttpAnswer{*code, answer->substr(head + 4)};
}

}  // namespace

Result<HttpAnswer> http_post(const JobAddress& address, const std::string& path) {
  return ask(address, "POST " + path, "X-Piracema: 1\r\nContent-Length: 0\r\n");
}

Result<std::string> http_get(const JobAddress& address, const std::string& path) {
  auto answer = ask(address, "GET " + path, "");
  if (!answer) return answer.error();
  std::string& body = answer->body;
  if (answer->code == 200) return std::move(body);
  const Errc code = answer->code == 503 ? Errc::timeout : Errc::refused;
  return Error{code, concat(address.host_port, ": ", answer->code, ": ",
                            body.substr(0, std::min<std::size_t>(body.find('\n'), 200)))};
}

}  // namespace piracema::tools
