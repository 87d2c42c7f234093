#include <piracema/smr/replica.h>
#include <signal.h>

#include <atomic>
#include <thread>

#include "base/log.h"
#include "smr/replica/replica_node.h"

namespace piracema::smr {

struct Replica::Parts {
  std::unique_ptr<ReplicaNode> node;
};

Result<std::unique_ptr<Replica>> Replica::start(const Configuration& configuration,
                                                const ReplicaOptions& options,
                                                StateMachine& machine) {
  const auto key = read_key(options.key_file);
  if (!key) return key.error();
  auto node = ReplicaNode::start(configuration,
                                 {.id = options.id,
                                  .key = *key,
                                  .directory = options.directory,
                                  .first_start = options.first_start,
                                  .began_file = options.began_file,
                                  .listen = options.listen,
                                  .groups = options.groups,
                                  .leads = options.leads,
                                  .leads_no_longer = options.leads_no_longer,
                                  .applied = options.applied,
                                  .figures = options.figures,
                                  .operation_timeout = options.operation_timeout},
                                 machine);
  if (!node) return node.error();
  return std::unique_ptr<Replica>(new Replica(std::make_unique<Parts>(Parts{*std::move(node)})));
}

Replica::Replica(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Replica::~Replica() = default;

Result<Done> Replica::run() { return parts_->node->run(); }
void Replica::stop() { parts_->node->stop(); }
void Replica::invoke_ordered(Bytes operation, Callback done) {
  parts_->node->invoke(true, operation, std::move(done));
}
void Replica::invoke_unordered(Bytes operation, Callback done) {
  parts_->node->invoke(false, operation, std::move(done));
}

int run_replica(const Configuration& configuration, const ReplicaOptions& options,
                StateMachine& machine) {
  // Before any thread is made, so that none of them takes the signals.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const auto complain = [](const Error& error) {
    log(Level::error, error.message);
    return error.code == Errc::lost ? 4 : error.code == Errc::failed ? 1 : 3;
  };
  auto replica = Replica::start(configuration, options, machine);
  if (!replica) return complain(replica.error());

  int signal = 0;
  std::atomic<bool> signalled = false;
  std::thread watcher([&] {
    ::sigwait(&signals, &signal);
    signalled = true;
    (*replica)->stop();
  });
  const auto ended = (*replica)->run();
  // It ended by itself, and the watcher still waits: it is given its signal.
  if (!signalled) ::pthread_kill(watcher.native_handle(), SIGTERM);
  watcher.join();
  return ended ? 0 : complain(ended.error());
}

}  // namespace piracema::smr
