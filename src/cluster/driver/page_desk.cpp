#include "cluster/driver/page_desk.h"

#include <utility>

#include "base/clock.h"
#include "observe/http/web_site.h"

namespace piracema::cluster {

namespace {

// As many as an HttpServer has connections.
constexpr int under_way_max = 64;

using Argument = std::pair<const char*, std::string observe::Request::*>;
constexpr Argument arguments[] = {{"node", &observe::Request::node},
                                  {"from", &observe::Request::from},
                                  {"replicas", &observe::Request::replicas},
                                  {"workers", &observe::Request::workers},
                                  {"name", &observe::Request::name}};

}  // namespace

PageAsked to_message(std::uint64_t id, const observe::Request& request) {
  PageAsked asked{.id = id,
                  .method = request.method,
                  .path = request.path,
                  .accept = request.accept,
                  .arguments = {}};
  for (const auto& [name, member] : arguments) {
    if (!(request.*member).empty()) asked.arguments[name] = request.*member;
  }
  return asked;
}

observe::Request from_message(const PageAsked& asked) {
  observe::Request request{.method = asked.method, .path = asked.path, .accept = asked.accept};
  for (const auto& [name, member] : arguments) {
    const auto found = asked.arguments.find(name);
    if (found != asked.arguments.end()) request.*member = found->second;
  }
  return request;
}

PageAnswered to_message(std::uint64_t id, observe::Response response) {
  return {.id = id,
          .code = static_cast<std::uint32_t>(response.code),
          .type = std::move(response.type),
          .body = std::move(response.body),
          .headers = {response.headers.begin(), response.headers.end()}};
}

observe::Response from_message(PageAnswered answered) {
  return {.code = static_cast<int>(answered.code),
          .type = std::move(answered.type),
          .body = std::move(answered.body),
          .headers = {answered.headers.begin(), answered.headers.end()}};
}

void PageDesk::ask(PageAsked asked, Reply reply) {
  if (under_way_ >= under_way_max) {
    return reply(to_message(
        asked.id, observe::WebSite::text(503, "too many questions wait for an answer\n")));
  }
  ++under_way_;
  thread_.post([this, asked = std::move(asked), reply = std::move(reply)]() mutable {
    const observe::Request request = from_message(asked);
    observe::Response response =
        request.method == "POST" ? pages_.post(request) : pages_.get(request, now());
    --under_way_;
    reply(to_message(asked.id, std::move(response)));
  });
}

}  // namespace piracema::cluster
