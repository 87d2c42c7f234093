// A replica of a service of paper 003, section 4, with the words of `piracema kv replica` on its
// command line. The environment variable SERVICE says which: list or tuples; LIAR the number of one
// that lies whenever it can (liar.h), and leaves nothing.
//
// On SIGTERM it executes all up to the instance that the file `last` beside its directory names,
// and leaves DIRECTORY.end: on how many threads it has executed, and its state.

#include "services_main.h"

#include <piracema/smr/replica.h>
#include <signal.h>

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>

#include "base/log.h"
#include "base/text.h"
#include "cluster/smr/liar.h"

using namespace piracema;
using namespace piracema::smr;

namespace {

/// Knows on how many threads operations were executed.
class Watched : public StateMachine {
 public:
  explicit Watched(StateMachine& machine) : machine_(machine) {}
  Buffer apply(Bytes operation, const Context& context) override {
    {
      const std::lock_guard lock(mutex_);
      threads_.insert(std::this_thread::get_id());
    }
    return machine_.apply(operation, context);
  }
  Buffer query(Bytes operation) const override { return machine_.query(operation); }
  Keys keys(Bytes operation) const override { return machine_.keys(operation); }
  Image snapshot() override { return machine_.snapshot(); }
  bool restore(Bytes image) override { return machine_.restore(image); }
  std::size_t threads() const {
    const std::lock_guard lock(mutex_);
    return threads_.size();
  }

 private:
  StateMachine& machine_;
  mutable std::mutex mutex_;
  std::set<std::thread::id> threads_;
};

/// How far execution is, to be waited for.
class Reached {
 public:
  void tell(std::uint64_t instance) {
    const std::lock_guard lock(mutex_);
    instance_ = instance;
    changed_.notify_all();
  }
  void wait_for(std::uint64_t instance) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return instance_ >= instance; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t instance_ = 0;
};

std::string word_behind(char** words, const char* name) {
  for (; words[0] != nullptr && words[1] != nullptr; ++words) {
    if (std::strcmp(words[0], name) == 0) return words[1];
  }
  return "";
}

bool is_among(char** words, const char* word) {
  for (; *words != nullptr; ++words) {
    if (std::strcmp(*words, word) == 0) return true;
  }
  return false;
}

int fail(const Error& error) {
  log(Level::error, error.message);
  return error.code == Errc::failed ? 1 : 3;
}

int serve(const Configuration& configuration, const ReplicaOptions& options, StateMachine& machine,
          Reached& reached) {
  // Before any thread is made, so that none of them takes the signal.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  Watched watched(machine);
  const auto replica = Replica::start(configuration, options, watched);
  if (!replica) return fail(replica.error());
  std::thread([&] {
    int signal = 0;
    ::sigwait(&signals, &signal);
    std::uint64_t last = 0;
    std::ifstream(options.directory + "/../last") >> last;
    reached.wait_for(last);
    (*replica)->stop();
  }).detach();  // If the replica ends by itself, the process does.
  const auto ended = (*replica)->run();
  if (!ended) return fail(ended.error());
  const Buffer state = bytes_of(watched.snapshot());
  std::ofstream(options.directory + ".end", std::ios::binary) << watched.threads() << "\n"
                                                              << as_text(state);
  return 0;
}

int lie(const Configuration& configuration, const ReplicaOptions& options, StateMachine& machine) {
  const auto key = read_key(options.key_file);
  if (!key) return fail(key.error());
  ReplicaNode::Place place{.id = options.id,
                           .key = *key,
                           .directory = options.directory,
                           .first_start = options.first_start,
                           .groups = options.groups};
  testing::Liar liar("all");
  liar.speak_for(place);
  const auto node = ReplicaNode::start(configuration, std::move(place), machine);
  if (!node) return fail(node.error());
  const auto ended = (*node)->run();
  return ended ? 0 : fail(ended.error());
}

}  // namespace

int main(int, char** argv) {
  const std::string id = word_behind(argv, "--id");
  set_log_process(concat("service ", id));
  auto configuration = read_configuration(word_behind(argv, "--config"));
  if (!configuration) return fail(configuration.error());
  configuration->execution_threads = testing::execution_threads;
  configuration->checkpoint_every = testing::checkpoint_every;
  Reached reached;
  ReplicaOptions options{
      .id = static_cast<std::uint32_t>(std::atoi(id.c_str())),
      .key_file = word_behind(argv, "--key"),
      .directory = word_behind(argv, "--directory"),
      .first_start = is_among(argv, "--first-start"),
      .applied = [&](std::uint64_t instance) { reached.tell(instance); },
  };
  const char* const service = std::getenv("SERVICE");
  const char* const liar = std::getenv("LIAR");
  std::unique_ptr<StateMachine> machine = testing::make_space();
  if (service != nullptr && std::strcmp(service, "list") == 0) {
    options.groups = ConflictGroups{};  // By the paper's Algorithms 3 and 4; else by keys.
    machine = testing::make_list();
  }
  if (liar != nullptr && liar == id) return lie(*configuration, options, *machine);
  return serve(*configuration, options, *machine, reached);
}
