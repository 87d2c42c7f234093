#include "tools/cluster/dashboard.h"

#include <poll.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/parse.h"
#include "base/text.h"
#include "observe/http/server.h"
#include "os/signal_watch.h"
#include "tools/cluster/cluster_site.h"
#include "tools/failure.h"

namespace piracema::tools {

namespace {

constexpr Time look_every = std::chrono::seconds(1), look_every_max = std::chrono::seconds(5);
// A large cluster, or one that answers late, is asked less often: the control plane has other
// things to do.
constexpr int share_of_time = 10;

}  // namespace

ClusterDashboard::ClusterDashboard(CLI::App& cluster, const std::string& footer) {
  dashboard_ = cluster.add_subcommand("dashboard", "Show the cluster by HTTP, until Ctrl-C");
  add_cluster_options(*dashboard_, directory_, timeout_);
  dashboard_->add_option("--http", address_,
                         "ADDRESS:PORT, or PORT of loopback; default: any of loopback, and said");
  dashboard_->add_option("--http-token", token_file_,
                         "File with the token that HTTP asks for, 16 letters and digits\n"
                         "at least; needed beyond loopback");
  dashboard_->footer(
      concat("A page, figures for Prometheus (/metrics), JSON (/api/v1/cluster), /healthz and\n"
             "/readyz. It changes nothing: the key of a user who may look is enough. Wants\n"
             "libmicrohttpd12.\n\n"
             "Example:\n"
             "  piracema cluster dashboard --cluster c/users/bob --http 8080\n\n",
             footer));
}

int ClusterDashboard::run() const {
  const auto timeout = parse_duration(timeout_);
  if (!timeout) return fail_asked({Errc::usage, "--timeout: " + timeout.error().message});
  // Before there are threads through which a signal would end this process.
  net::Poller poller;
  bool stopped = false;
  auto signals =
      ckpt::SignalWatch::open(poller, {SIGTERM, SIGINT, SIGHUP}, [&](int) { stopped = true; });
  if (!signals) return fail_asked(signals.error());
  auto watcher = ClusterWatcher::open(directory_, *timeout);
  if (!watcher) return fail_asked(watcher.error());
  // Of a thread of its own.
  auto client = ClusterClient::open(directory_, *timeout);
  if (!client) return fail_asked(client.error());
  ClusterBoard board;
  const auto ask_job = [&](jobs::JobId id) { return client->show(id); };
  auto server = observe::HttpServer::start(
      {.address = address_, .token_file = token_file_}, [&](observe::Guard guard) {
        return std::make_unique<ClusterSite>(board, watcher->user().name, ask_job,
                                             std::move(guard));
      });
  if (!server) {
    return fail_asked({server.error().code, "--http: " + server.error().message});
  }
  std::printf("the cluster is shown at %s\n", (*server)->entrance().c_str());
  std::fflush(stdout);
  while (!stopped) {
    const Time began = now();
    auto seen = watcher->look(Looked::all);
    if (!seen) return fail_asked(seen.error());
    board.show(*std::move(seen), now());
    const Time next =
        began + std::clamp(share_of_time * (now() - began), look_every, look_every_max);
    do {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - now());
      poller.run_once(std::max(left, std::chrono::milliseconds(0)));
    } while (!stopped && now() < next);
  }
  return 0;
}

}  // namespace piracema::tools
