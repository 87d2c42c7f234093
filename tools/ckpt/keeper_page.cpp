#include "tools/ckpt/keeper_page.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "os/bystander.h"
#include "tools/ckpt/keeper_site.h"
#include "tools/ckpt/store_look.h"
#include "wire/fields.h"

namespace piracema::tools {

namespace {

constexpr std::size_t message_bytes_max = 200 << 10;
constexpr std::size_t lines_shown = 60, line_bytes_max = 500;
constexpr int goodbye_ms = 2'000;

/// What the process says first, and nothing else: where it is reached, or why it is not.
struct PageBegun {
  bool ok = false;
  Errc code = Errc::io;
  std::string text;
  auto fields() { return std::tie(ok, code, text); }
};

struct PageLine {
  double at = 0;
  Level level = Level::info;
  std::string text;
  auto fields() { return std::tie(at, level, text); }
};
/// What it is told.
struct PageNews {
  ckpt::KeeperFigures figures;
  std::vector<PageLine> lines;
  auto fields() { return std::tie(figures, lines); }
};

template <class Message>
bool send_message(const Fd& socket, Message message, int flags) {
  const Buffer bytes = wire::encode(std::move(message));
  return ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | flags) >= 0;
}

// Errc::lost when the other one has gone.
template <class Message>
Result<Message> receive_message(const Fd& socket) {
  Buffer room;
  room.resize(message_bytes_max);
  ssize_t bytes = -1;
  do {
    bytes = ::recv(socket.get(), room.data(), room.size(), 0);
  } while (bytes < 0 && errno == EINTR);
  if (bytes <= 0) return Error{Errc::lost, "the process that shows the job has ended"};
  return wire::decode<Message>(Bytes(room).first(static_cast<std::size_t>(bytes)));
}

/// In the new process, until the keeper has gone.
void serve_keeper(const Fd& socket, const observe::HttpOptions& options) {
  // The file that it names was closed with all others.
  (void)set_log_directory({});
  const auto board = std::make_shared<KeeperBoard>();
  auto server = observe::HttpServer::start(options, [&](observe::Guard guard) {
    return std::make_unique<KeeperSite>(*board, std::move(guard));
  });
  PageBegun begun{.ok = server.ok()};
  if (server) {
    begun.text = (*server)->entrance();
  } else {
    begun.code = server.error().code;
    begun.text = server.error().message;
  }
  if (!send_message(socket, begun, 0) || !server) return;
  StoreLook store(board);
  for (;;) {
    auto news = receive_message<PageNews>(socket);
    if (!news) return;
    std::vector<LoggedLine> lines;
    for (PageLine& line : news->lines) {
      lines.push_back({line.at, line.level, std::move(line.text)});
    }
    store.look_at(news->figures.directory, news->figures.saved);
    board->show(std::move(news->figures), std::move(lines), now());
  }
}

}  // namespace

Result<std::unique_ptr<KeeperPage>> KeeperPage::start(const observe::HttpOptions& options) {
  auto socket = ckpt::start_bystander([&options](Fd there) { serve_keeper(there, options); });
  if (!socket) return socket.error();
  auto begun = receive_message<PageBegun>(*socket);
  if (!begun) return Error{Errc::io, "--http: " + begun.error().message};
  if (!begun->ok) return Error{begun->code, "--http: " + begun->text};
  return std::unique_ptr<KeeperPage>(new KeeperPage(*std::move(socket), std::move(begun->text)));
}

KeeperPage::~KeeperPage() {
  ::shutdown(socket_.get(), SHUT_WR);
  pollfd wait{socket_.get(), POLLIN, 0};
  ::poll(&wait, 1, goodbye_ms);
}

void KeeperPage::show(const ckpt::KeeperFigures& figures) {
  if (is_lost_) return;
  PageNews news{.figures = figures};
  const auto lines = logged_lines();
  const std::size_t first = lines.size() - std::min(lines.size(), lines_shown);
  for (std::size_t i = first; i < lines.size(); ++i) {
    news.lines.push_back({lines[i].at, lines[i].level, lines[i].text.substr(0, line_bytes_max)});
  }
  if (send_message(socket_, std::move(news), MSG_DONTWAIT)) return;
  if (errno == EAGAIN || errno == EINTR || errno == EMSGSIZE || errno == ENOBUFS) return;
  is_lost_ = true;
  log(Level::warning, "the process that shows the job has ended: nothing is shown any more");
}

}  // namespace piracema::tools
