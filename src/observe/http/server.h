#pragma once

#include <piracema/error.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "net/socket/address.h"
#include "observe/http/pages.h"
#include "observe/http/web_site.h"

namespace piracema::observe {

struct HttpOptions {
  /// "127.0.0.1:8080", "[::]:8080", "8080" (on loopback), or "" and "on": loopback, any port.
  std::string address;
  /// File with the token, which readers need then, too; empty: one is drawn. Beyond loopback there
  /// has to be one.
  std::string token_file;
  /// Its entrance is written there, as long as it is served (AddressFile); empty: nowhere.
  std::string address_file = {};
  /// For whoever runs the job, as the node of a cluster does, and wants to ask it for something:
  /// readers need the token, the user is told of nothing, and the job goes on without it.
  bool is_for_runner = false;
};

/// As the user wants it, if an address was given. Else for whoever runs the job, if that has set
/// $PIRACEMA_HTTP_FILE. Nothing: nobody is served.
std::optional<HttpOptions> http_options(const std::string& address, const std::string& token_file);

/// Makes what is served, for whoever its guard lets in.
using MakeSite = std::function<std::unique_ptr<WebSite>(Guard)>;

/// Serves a site over HTTP until it is destroyed: one thread of libmicrohttpd, which is
/// loaded when it is asked for. At most 64 connections; one that is silent for 15 seconds is
/// closed.
class HttpServer {
 public:
  /// What the site looks at outlives it. Errc::config for an address or a token that is none, an
  /// address beyond loopback without a token, and where libmicrohttpd is missing; Errc::io for an
  /// address that is taken or not ours.
  static Result<std::unique_ptr<HttpServer>> start(const HttpOptions& options,
                                                   const MakeSite& make);
  /// A job, of which these tell.
  static Result<std::unique_ptr<HttpServer>> start(const HttpOptions& options,
                                                   std::shared_ptr<Pages> pages);
  /// The same; where only whoever runs the job wants it, an error is a warning, and there is none.
  static Result<std::unique_ptr<HttpServer>> start_if_can(const HttpOptions& options,
                                                          std::shared_ptr<Pages> pages);
  virtual ~HttpServer() = default;

  /// Where it is reached.
  virtual net::Address address() const = 0;
  /// For a browser, with the token: for the eyes of whoever started the job.
  virtual std::string entrance() const = 0;
};

/// Where the options want it. Errc::config.
Result<net::Address> http_address(const std::string& text);

}  // namespace piracema::observe
