#include "observe/http/web_site.h"

#include <optional>

#include "base/text.h"
#include "observe/page/page_files.h"

namespace piracema::observe {

namespace {

/// What all sites have; nothing: it is none of that.
std::optional<Response> shared(const std::string& path) {
  if (path == "/style.css")
    return Response{200, "text/css; charset=utf-8", std::string(page_style)};
  if (path == "/icon.svg") return Response{200, "image/svg+xml", std::string(page_icon)};
  if (path == "/common.js") {
    return Response{200, "text/javascript; charset=utf-8", std::string(page_common)};
  }
  return std::nullopt;
}

}  // namespace

Response WebSite::answer(const Request& request, Time now) const {
  Response response;
  if (auto refused = guard_.refuse(request)) {
    response = *std::move(refused);
  } else if (request.method == "GET" || request.method == "HEAD") {
    auto found = shared(request.path);
    response = found ? *std::move(found) : get(request, now);
  } else if (request.method == "POST") {
    response = post(request);
  } else {
    response = not_allowed(methods());
  }
  // Nothing of another site runs in the page, and no other site shows it.
  response.headers.insert(
      response.headers.end(),
      {{"Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
       {"X-Content-Type-Options", "nosniff"},
       {"X-Frame-Options", "DENY"},
       {"Referrer-Policy", "no-referrer"},
       {"Cross-Origin-Resource-Policy", "same-origin"},
       {"Cache-Control", "no-store"}});
  return response;
}

Response WebSite::text(int code, std::string body) {
  return {code, "text/plain; charset=utf-8", std::move(body)};
}
Response WebSite::json(std::string body, int code) {
  return {code, "application/json; charset=utf-8", std::move(body) + "\n"};
}

Response WebSite::all(std::string_view kind,
                      std::initializer_list<std::pair<std::string_view, std::string>> resources) {
  std::string body = concat("{\"kind\":\"", kind, "\"");
  for (const auto& [name, resource] : resources) body += concat(",\"", name, "\":", resource);
  return json(body + "}");
}

Response WebSite::script(std::string_view text) {
  return {200, "text/javascript; charset=utf-8", std::string(text)};
}

Response WebSite::not_allowed(const std::string& wanted) {
  Response response = text(405, concat("want ", wanted, "\n"));
  response.headers.emplace_back("Allow", wanted);
  return response;
}

// The token does not stay in the address, which a browser keeps and shows.
Response WebSite::page(const Request& request, std::string_view html) const {
  if (request.argument_token.empty()) return {200, "text/html; charset=utf-8", std::string(html)};
  Response response = text(303, "");
  if (request.argument_token == guard_.token()) {
    response.headers.emplace_back("Set-Cookie", concat(guard_.cookie_name(), "=", guard_.token(),
                                                       "; HttpOnly; SameSite=Strict; Path=/"));
  }
  response.headers.emplace_back("Location", "/");
  return response;
}

}  // namespace piracema::observe
