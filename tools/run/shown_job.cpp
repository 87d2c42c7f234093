#include "tools/run/shown_job.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "tools/run/report_json.h"

namespace piracema::tools {

namespace {

void tell_where(const RunCommand& command, const observe::HttpServer& server) {
  if (command.json) {
    const nlohmann::ordered_json line = {
        {"event", "http"}, {"address", server.address().text()}, {"entrance", server.entrance()}};
    std::fputs(tools::line_of(line).c_str(), stdout);
    std::fflush(stdout);
  } else if (!command.quiet) {
    log(Level::info, concat("the job is shown at ", server.entrance()));
  }
}

}  // namespace

Result<std::unique_ptr<observe::HttpServer>> show_job(const RunCommand& command,
                                                      std::shared_ptr<observe::Pages> pages) {
  if (!command.http) return std::unique_ptr<observe::HttpServer>();
  auto server = observe::HttpServer::start_if_can(*command.http, std::move(pages));
  if (!server) return Error{server.error().code, concat("--http: ", server.error().message)};
  if (!command.http->is_for_runner) tell_where(command, **server);
  return server;
}

}  // namespace piracema::tools
