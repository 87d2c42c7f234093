#include "tools/kv/replica.h"

#include <piracema/smr/key_value.h>
#include <signal.h>

#include <CLI/CLI.hpp>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "tools/failure.h"
#include "tools/http_options.h"
#include "tools/kv/replica_site.h"
#include "tools/log_options.h"

namespace piracema::tools {

namespace {

constexpr std::size_t log_lines_shown = 200;

}  // namespace

KvReplica::KvReplica(CLI::App& kv, const std::string& footer) {
  replica_ = kv.add_subcommand("replica", "Run one replica, until SIGTERM");
  replica_->add_option("--config", config_, "Configuration of the group")->required();
  replica_->add_option("--id", id_, "Which replica of the configuration this is")->required();
  replica_->add_option("--key", key_, "Its key file")->required();
  replica_->add_option("--directory", directory_, "Where it keeps its log, for it alone")
      ->required();
  replica_->add_option("--listen", listen_,
                       "Where it listens, if others reach it elsewhere: 0.0.0.0:7000");
  replica_->add_flag("--first-start", first_start_,
                     "The group is new: an empty directory was not lost");
  add_http_options(*replica_, "the replica", http_, http_token_);
  add_log_options(*replica_);
  replica_->add_flag("--json", json_, "As --log-format json");
  replica_->footer(footer);
}

Result<std::unique_ptr<observe::HttpServer>> KvReplica::serve(const ReplicaBoard& board,
                                                              const std::string& group) const {
  // The server's threads are not to take what ends the replica.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  auto server = observe::HttpServer::start(
      {.address = http_, .token_file = http_token_}, [&](observe::Guard guard) {
        return std::make_unique<ReplicaSite>(board, group, std::move(guard));
      });
  if (!server) return Error{server.error().code, "--http: " + server.error().message};
  log(Level::info, concat("the replica is shown at ", (*server)->entrance()));
  // From here on: the line above has the token, and everybody on this machine may read these.
  keep_log(log_lines_shown);
  return server;
}

int KvReplica::run() const {
  if (json_) set_log_format(LogFormat::json);
  log_as_service(concat("replica ", id_));
  const auto configuration = smr::read_configuration(config_);
  if (!configuration) return fail(configuration.error());
  const auto machine = smr::kv::make_machine();
  smr::ReplicaOptions options;
  options.id = id_;
  options.key_file = key_;
  options.directory = directory_;
  options.first_start = first_start_;
  options.listen = listen_;
  ReplicaBoard board;
  std::unique_ptr<observe::HttpServer> server;
  if (!http_.empty()) {
    auto started = serve(board, configuration->name);
    if (!started) return fail(started.error());
    server = *std::move(started);
    options.figures = [&board](const smr::ReplicaFigures& figures) { board.show(figures, now()); };
  }
  return smr::run_replica(*configuration, options, *machine);
}

}  // namespace piracema::tools
