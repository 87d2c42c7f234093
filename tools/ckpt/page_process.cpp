#include "tools/ckpt/page_process.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "os/bystander.h"
#include "wire/fields.h"

namespace piracema::tools {

namespace {

constexpr std::size_t news_bytes_max = 200 << 10;
constexpr std::size_t lines_shown = 60, line_bytes_max = 500;
constexpr int goodbye_ms = 2'000;

/// What the process says first, and nothing else: where it is reached, or why it is not.
struct PageBegun {
  bool ok = false;
  Errc code = Errc::io;
  std::string text;
  auto fields() { return std::tie(ok, code, text); }
};

// Errc::lost when the other one has gone.
Result<Buffer> receive_news(const Fd& socket) {
  Buffer room;
  room.resize(news_bytes_max);
  ssize_t bytes = -1;
  do {
    bytes = ::recv(socket.get(), room.data(), room.size(), 0);
  } while (bytes < 0 && errno == EINTR);
  if (bytes <= 0) return Error{Errc::lost, "the process that shows it has ended"};
  room.resize(static_cast<std::size_t>(bytes));
  return room;
}

bool send_news(const Fd& socket, const Buffer& bytes, int flags) {
  return ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | flags) >= 0;
}

/// In the new process, until who made it has gone.
void serve_page(const Fd& socket, const observe::HttpOptions& options,
                const std::function<PageProcess::Parts()>& make) {
  // The file that it names was closed with all others.
  (void)set_log_directory({});
  const PageProcess::Parts parts = make();
  const auto server = observe::HttpServer::start(options, parts.site);
  PageBegun begun{.ok = server.ok()};
  if (server) {
    begun.text = (*server)->entrance();
  } else {
    begun.code = server.error().code;
    begun.text = server.error().message;
  }
  if (!send_news(socket, wire::encode(std::move(begun)), 0) || !server) return;
  while (const auto news = receive_news(socket)) parts.hear(*news);
}

}  // namespace

Result<std::unique_ptr<PageProcess>> PageProcess::start(const observe::HttpOptions& options,
                                                        const std::function<Parts()>& make) {
  auto socket = ckpt::start_bystander([&](Fd there) { serve_page(there, options, make); });
  if (!socket) return socket.error();
  const auto said = receive_news(*socket);
  if (!said) return Error{Errc::io, "--http: " + said.error().message};
  auto begun = wire::decode<PageBegun>(*said);
  if (!begun) return Error{Errc::io, "--http: " + begun.error().message};
  if (!begun->ok) return Error{begun->code, "--http: " + begun->text};
  return std::unique_ptr<PageProcess>(new PageProcess(*std::move(socket), std::move(begun->text)));
}

PageProcess::~PageProcess() {
  ::shutdown(socket_.get(), SHUT_WR);
  pollfd wait{socket_.get(), POLLIN, 0};
  ::poll(&wait, 1, goodbye_ms);
}

void PageProcess::tell(const Buffer& news) {
  if (is_lost_ || send_news(socket_, news, MSG_DONTWAIT)) return;
  if (errno == EAGAIN || errno == EINTR || errno == EMSGSIZE || errno == ENOBUFS) return;
  is_lost_ = true;
  log(Level::warning, "the process that answers by HTTP has ended: nothing is shown any more");
}

void keep_page_lines() { keep_log(lines_shown); }

std::vector<PageLine> page_lines() {
  std::vector<PageLine> lines;
  for (const LoggedLine& line : logged_lines()) {
    lines.push_back({line.at, line.level, line.text.substr(0, line_bytes_max)});
  }
  return lines;
}

std::vector<LoggedLine> logged_lines_of(std::vector<PageLine> lines) {
  std::vector<LoggedLine> all;
  for (PageLine& line : lines) all.push_back({line.at, line.level, std::move(line.text)});
  return all;
}

}  // namespace piracema::tools
