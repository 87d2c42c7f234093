#include "tools/kv/lock.h"

#include <piracema/smr/client.h>
#include <piracema/smr/lock.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/clock.h"
#include "base/log.h"
#include "base/parse.h"
#include "base/text.h"
#include "os/exit_code.h"
#include "tools/kv/locked_command.h"

namespace piracema::tools {

namespace {

using std::chrono::milliseconds;

constexpr int not_had = 75, lock_lost = 76;
constexpr const char* lock_exit_codes =
    "Exit codes:\n"
    "  those of COMMAND, 128 + N if signal N ended it, and\n"
    "  1   the group refuses   2 usage   3 configuration, a key file\n"
    "  75  the lock was not had in time   76 it was lost, and COMMAND was ended\n"
    "  126 COMMAND cannot be run   127 there is no such program\n";

int fail_lock(const Error& error) {
  log(Level::error, error.message);
  switch (error.code) {
    case Errc::usage:
      return 2;
    case Errc::timeout:
      return not_had;
    case Errc::refused:
      return 1;
    default:
      return 3;
  }
}

std::string own_name() {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  return concat(std::string_view(host), ":", ::getpid());
}

/// In steps, so that a signal ends it: nobody must die of one while the lock is its own.
Result<std::unique_ptr<smr::kv::Lock>> acquire(smr::Invoker& invoker, const std::string& key,
                                               const smr::kv::LockOptions& options,
                                               std::optional<milliseconds> wait,
                                               LockedCommand& command) {
  constexpr milliseconds step{500};
  const Time begun = now();
  while (true) {
    const auto passed = std::chrono::duration_cast<milliseconds>(now() - begun);
    const milliseconds left = wait ? std::max(*wait - passed, milliseconds(0)) : step;
    auto lock = smr::kv::Lock::acquire(invoker, key, options, std::min(left, step));
    if (lock || lock.error().code != Errc::timeout || left < step) return lock;
    if (command.is_interrupted()) return lock;
  }
}

}  // namespace

KvLock::KvLock(CLI::App& kv) {
  lock_ = kv.add_subcommand("lock", "Run a command under a lock: NAME -- COMMAND...");
  lock_->add_option("--config", config_, "Configuration of the group")->required();
  lock_->add_option("--key", key_, "The client's key file")->required();
  lock_->add_option("--client", client_, "The client's number in it; default: 1");
  lock_->add_option("--wait", wait_, "For the lock, at most; default: as long as it takes");
  lock_->add_option("--ttl", ttl_, "Others have it so long after this process died; default: 10s");
  lock_->add_option("NAME", name_, "The lock: a key of the map")->required();
  lock_->add_option("COMMAND", command_, "What to run; behind --")->required();
  lock_->footer(concat(
      "COMMAND finds the lock's fencing token in PIRACEMA_LOCK_TOKEN: what it writes elsewhere\n"
      "should carry it, and be refused after a larger one. It is ended by SIGTERM, and soon by\n"
      "SIGKILL, if the lock is lost, and dies with this process.\n\n",
      std::string_view(lock_exit_codes)));
}

int KvLock::run() const {
  const auto ttl = parse_duration(ttl_);
  if (!ttl) return fail_lock({Errc::usage, "--ttl: " + ttl.error().message});
  std::optional<milliseconds> wait;
  if (!wait_.empty()) {
    const auto parsed = parse_duration(wait_);
    if (!parsed) return fail_lock({Errc::usage, "--wait: " + parsed.error().message});
    wait = *parsed;
  }
  const auto configuration = smr::read_configuration(config_);
  if (!configuration) return fail_lock(configuration.error());
  // Before any thread is made, so that none of them takes its signals.
  LockedCommand command;
  auto client = smr::Client::open(*configuration, {.id = client_, .key_file = key_});
  if (!client) return fail_lock(client.error());
  auto lock =
      acquire(**client, name_,
              {.lease = {.ttl = *ttl, .lost = [&] { command.end(); }}, .holder = own_name()}, wait,
              command);
  if (command.is_interrupted()) return exit_code_of_signal(command.is_interrupted());
  if (!lock) return fail_lock(lock.error());
  // A lock that is lost leaves an eighth of its time before others have it.
  const int code =
      command.run(command_, "PIRACEMA_LOCK_TOKEN", std::to_string((*lock)->token()), *ttl / 8);
  if (command.was_ended()) {
    log(Level::error, concat("the lock ", name_, " was lost, and the command was ended"));
    return lock_lost;
  }
  if (const auto released = (*lock)->release(); !released) {
    log(Level::warning, concat("the lock ", name_,
                               " may be held until its lease ends: ", released.error().message));
  }
  return code;
}

}  // namespace piracema::tools
