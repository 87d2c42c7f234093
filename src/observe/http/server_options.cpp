// What people say of where it listens, and who may come.
#include "observe/http/server_options.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdlib>
#include <utility>

#include "base/fd.h"
#include "base/log.h"
#include "base/parse.h"
#include "base/text.h"
#include "net/session/handshake.h"
#include "observe/http/guard.h"
#include "observe/http/server.h"

namespace piracema::observe {

namespace {

constexpr std::size_t token_file_bytes_max = 4'096;

Result<std::string> read_token(const std::string& file) {
  const auto wrong = [&file](const std::string& what) {
    return Error{Errc::config, concat("token file '", file, "': ", what)};
  };
  const Fd in(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!in || ::fstat(in.get(), &status) != 0)
    return Error{Errc::config, with_errno(concat("token file '", file, "'"))};
  if (!S_ISREG(status.st_mode)) return wrong("want a file, found something else");
  if ((status.st_mode & (S_IRGRP | S_IROTH | S_IWGRP | S_IWOTH)) != 0) {
    return wrong("others may read or write it; want it for its owner alone (chmod 600)");
  }
  char text[token_file_bytes_max];
  const ssize_t count = ::read(in.get(), text, sizeof text);
  if (count < 0) return Error{Errc::config, with_errno(concat("token file '", file, "'"))};
  std::string token(text, static_cast<std::size_t>(count));
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  if (auto valid = check_token(token); !valid) return wrong(valid.error().message);
  return token;
}

}  // namespace

Result<net::Address> http_address(const std::string& text) {
  if (text.empty() || text == "on" || text == "true") return net::Address::make("127.0.0.1", 0);
  if (const auto port = parse_number<std::uint16_t>(text)) {
    return net::Address::make("127.0.0.1", *port);
  }
  auto address = net::Address::parse(text);
  if (address && !address->is_local()) return address;
  return Error{Errc::config,
               concat("want an address such as 127.0.0.1:8080, or a port, found '", text, "'")};
}

std::optional<HttpOptions> http_options(const std::string& address, const std::string& token_file) {
  const char* const set = std::getenv("PIRACEMA_HTTP_FILE");
  const std::string file = set == nullptr ? "" : set;
  if (!address.empty()) return HttpOptions{address, token_file, file};
  if (file.empty()) return std::nullopt;
  return HttpOptions{.address_file = file, .is_for_runner = true};
}

Result<std::unique_ptr<HttpServer>> HttpServer::start_if_can(const HttpOptions& options,
                                                             std::shared_ptr<Pages> pages) {
  auto started = start(options, std::move(pages));
  if (started || !options.is_for_runner) return started;
  log(Level::warning,
      concat("whoever runs this job cannot ask it for anything (savepoint, scale): ",
             started.error().message));
  return std::unique_ptr<HttpServer>();
}

Result<std::string> http_token(const HttpOptions& options, const net::Address& address) {
  if (!options.token_file.empty()) return read_token(options.token_file);
  if (is_loopback(address)) return net::draw_token();
  return Error{Errc::config,
               concat(address.text(),
                      " is reached by other machines: want a file with a token (--http-token FILE, "
                      "$PIRACEMA_HTTP_TOKEN), or an address of loopback")};
}

}  // namespace piracema::observe
