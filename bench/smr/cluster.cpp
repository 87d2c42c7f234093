#include "bench/smr/cluster.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "base/ensure.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"
#include "bench/smr/probe.h"
#include "smr/replica/replica_node.h"

namespace piracema::bench {

using namespace smr;

namespace {

class Nothing : public StateMachine {
 public:
  Buffer apply(Bytes, const Context&) override { return {}; }
  Buffer query(Bytes) const override { return {}; }
  Keys keys(Bytes) const override { return {}; }
  Image snapshot() override {
    return [](const Sink&) {};
  }
  bool restore(Bytes image) override { return image.empty(); }
};

KeyPair key_of(std::uint64_t kind, std::uint64_t number) {
  KeyPair::Seed seed{};
  seed[0] = static_cast<std::byte>(kind);
  for (std::size_t i = 0; i < 8; ++i) seed[1 + i] = static_cast<std::byte>(number >> (8 * i));
  return KeyPair(seed);
}

/// One that is free now.
std::uint16_t free_port() {
  const Fd socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ENSURE(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
  ENSURE(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  return ntohs(address.sin_port);
}

}  // namespace

KeyPair SmrCluster::client_key(std::uint64_t id) { return key_of(2, id); }

SmrCluster::SmrCluster(const Options& options) : options_(options) {
  configuration_.name = "bench";
  configuration_.byzantine = options.byzantine;
  configuration_.durable = options.durable;
  configuration_.execution_threads = options.execution_threads;
  for (std::uint32_t i = 0; i < (options.byzantine ? 4 : 3); ++i) {
    configuration_.replicas.push_back(
        {i, concat("127.0.0.1:", free_port()), hex_of(key_of(1, i).public_key())});
  }
  for (std::uint64_t i = 1; i <= options.clients; ++i) {
    configuration_.clients.push_back({i, hex_of(client_key(i).public_key())});
  }
  for (const auto& replica : configuration_.replicas) start(replica.id);
}

SmrCluster::~SmrCluster() {
  for (std::size_t i = 0; i < pids_.size(); ++i) kill(i);
}

void SmrCluster::start(std::uint32_t id) {
  const pid_t pid = ::fork();
  ENSURE(pid >= 0);
  if (pid != 0) return pids_.push_back(pid);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  set_log_level(Level::warning);
  set_log_process(concat("replica ", id));
  const std::unique_ptr<StateMachine> machine =
      options_.machine ? options_.machine() : std::make_unique<Nothing>();
  auto node = ReplicaNode::start(configuration_,
                                 {.id = id,
                                  .key = key_of(1, id),
                                  .directory = concat(options_.directory, "/", id),
                                  .first_start = true,
                                  .groups = options_.groups,
                                  .prices = options_.prices},
                                 *machine);
  const auto ended = node ? (*node)->run() : Result<Done>(node.error());
  std::fprintf(stderr, "replica %u: %s\n", id, ended ? "ended" : ended.error().message.c_str());
  ::_exit(1);
}

void SmrCluster::kill(std::size_t replica) {
  if (pids_[replica] == 0) return;
  ::kill(pids_[replica], SIGKILL);
  ::waitpid(pids_[replica], nullptr, 0);
  pids_[replica] = 0;
}

double SmrCluster::cpu() const {
  double sum = 0;
  for (const pid_t pid : pids_) {
    if (pid != 0) sum += cpu_seconds(pid);
  }
  return sum;
}

}  // namespace piracema::bench
