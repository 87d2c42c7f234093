#include "tools/kv/command.h"

#include <piracema/smr/client.h>
#include <piracema/smr/watcher.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/log.h"
#include "base/parse.h"
#include "base/refused_writes.h"
#include "base/text.h"
#include "smr/link/keys.h"
#include "tools/arguments.h"
#include "tools/failure.h"
#include "tools/kv/demo.h"
#include "tools/kv/operations.h"
#include "tools/product.h"

namespace piracema::tools {

namespace {

constexpr const char* exit_codes =
    "Exit codes:\n"
    "  0 done   1 not done: not found, another version, no answer in time, a client that was not\n"
    "  admitted, the replica gave up\n"
    "  2 usage   3 configuration, a key file, a disk\n";

struct OperationName {
  const char* name;
  const char* help;
};
constexpr OperationName operation_names[] = {
    {"put", "Set an entry: KEY VALUE [LEASE]"},
    {"get", "Read an entry: KEY"},
    {"del", "Remove an entry: KEY"},
    {"cas", "Set an entry that is of a version: KEY VERSION VALUE"},
    {"list", "Read the entries that begin so: [PREFIX]"},
    {"lease", "Make a lease: SECONDS"},
    {"keep", "Keep a lease alive: LEASE"},
    {"revoke", "End a lease: LEASE"},
    {"watch", "Read what has happened to a key: KEY [FROM]"},
};

}  // namespace

KvCommand::KvCommand(CLI::App& app) {
  kv_ = app.add_subcommand("kv", product_help("kv"));
  const std::string examples =
      "Examples:\n"
      "  piracema kv demo                     three replicas here, and commands for them\n"
      "  piracema kv start --directory g      three replicas here, until Ctrl-C\n"
      "  piracema kv keygen replica-0.key\n"
      "  piracema kv replica --config g.toml --id 0 --key replica-0.key --directory d0\n"
      "  piracema kv put --config g.toml --key client.key color blue\n"
      "  piracema kv lock --config g.toml --key client.key backups -- ./backup.sh\n"
      "  piracema kv change --config g.toml --key admin.key --remove 1 --add 3\n\n";
  kv_->footer(concat("Operations:\n", std::string_view(kv_operations_help), "\n", examples,
                     std::string_view(exit_codes)));
  kv_->require_subcommand(1);
  const std::string footer = exit_codes;
  add_keygen(footer);
  replica_ = std::make_unique<KvReplica>(*kv_, footer);
  add_demo(footer);
  start_ = std::make_unique<KvStart>(*kv_, footer);
  add_operations(footer);
  lock_ = std::make_unique<KvLock>(*kv_);
  administration_ = std::make_unique<KvAdministration>(*kv_, footer);
  rescue_ = std::make_unique<KvRescue>(*kv_, footer);
  status_ = std::make_unique<KvStatus>(*kv_, footer);
  leader_ = std::make_unique<KvLeader>(*kv_, footer);
  doctor_ = std::make_unique<KvDoctor>(*kv_);
}

void KvCommand::add_keygen(const std::string& footer) {
  keygen_ = kv_->add_subcommand("keygen", "Make a key; prints its public half");
  keygen_->add_option("FILE", file_, "The file, for its owner alone; must not exist")->required();
  keygen_->footer(footer);
}

void KvCommand::add_demo(const std::string& footer) {
  demo_ = kv_->add_subcommand("demo", "Run a group here and take commands from standard input");
  demo_->add_flag("--byzantine", byzantine_, "Four replicas, one of which may lie; else three");
  demo_->add_flag("--memory", memory_, "Nothing is written to disk");
  demo_->add_option("--directory", directory_,
                    "Keep everything there, and go on with what is there");
  demo_->add_flag("--json", json_, "Replies as JSON lines; all else goes to standard error");
  demo_->footer(concat("Commands:\n", std::string_view(kv_operations_help),
                       "  kill N, start N          kills a replica's process, starts it again\n"
                       "  stop N, cont N           freezes it, lets it go on\n"
                       "  replace N                a new replica takes its place\n"
                       "  help, quit\n\n",
                       footer));
}

void KvCommand::add_operations(const std::string& footer) {
  for (const OperationName& operation : operation_names) {
    CLI::App* const command = kv_->add_subcommand(operation.name, operation.help);
    command->add_option("--config", config_, "Configuration of the group")->required();
    command->add_option("--key", key_, "The client's key file")->required();
    command->add_option("--client", client_, "The client's number in it; default: 1");
    command->add_option("--timeout", timeout_, "To wait for an answer; default: 10s");
    command->add_flag("--json", json_, "The reply as one JSON object");
    command->add_option("WORDS", words_, operation.help);
    if (std::string_view(operation.name) == "watch") {
      command->add_flag("--follow", follow_, "Print each change as it happens, until SIGINT");
      command->add_flag("--prefix", prefix_, "With --follow: of all keys that begin so");
    }
    command->footer(footer);
    operations_.push_back(command);
  }
}

int KvCommand::run() {
  refuse_large_writes();
  if (keygen_->parsed()) return keygen();
  if (replica_->parsed()) return replica_->run();
  if (demo_->parsed()) return kv_demo(byzantine_, !memory_, directory_, json_);
  if (start_->parsed()) return start_->run();
  if (leader_->parsed()) return leader_->run();
  if (lock_->parsed()) return lock_->run();
  if (administration_->parsed()) return administration_->run();
  if (rescue_->parsed()) return rescue_->run();
  if (status_->parsed()) return status_->run();
  if (doctor_->parsed()) return doctor_->run();
  return operate();
}

int KvCommand::keygen() const {
  const smr::KeyPair key = smr::KeyPair::generate();
  if (auto written = smr::write_key(file_, key); !written) return fail(written.error());
  std::printf("%s\n", smr::hex_of(key.public_key()).c_str());
  return 0;
}

int KvCommand::follow(smr::Client& client) const {
  const auto from = parse_number<std::uint64_t>(words_.size() > 1 ? words_[1] : "0");
  if (words_.empty() || words_.size() > 2 || !from) {
    return fail({Errc::usage, "kv watch: want KEY [FROM]; see piracema kv --help"});
  }
  smr::kv::Watcher watcher(client, words_[0], prefix_, *from);
  while (true) {
    const auto events = watcher.next(std::chrono::minutes(1));
    if (!events) {
      log(Level::error, events.error().message);
      return 1;
    }
    for (const auto& event : *events) std::printf("%s\n", kv_event_text(event, json_).c_str());
    std::fflush(stdout);
  }
}

int KvCommand::operate() const {
  const auto timeout = parse_duration(timeout_);
  if (!timeout) return fail({Errc::usage, "--timeout: " + timeout.error().message});
  const auto configuration = smr::read_configuration(config_);
  if (!configuration) return fail(configuration.error());
  auto client =
      smr::Client::open(*configuration, {.id = client_, .key_file = key_, .timeout = *timeout});
  if (!client) return fail(client.error());
  if (follow_) return follow(**client);
  if (prefix_) return fail({Errc::usage, "kv watch: --prefix wants --follow"});
  std::vector<std::string> words;
  for (const CLI::App* command : operations_) {
    if (command->parsed()) words.push_back(command->get_name());
  }
  words.insert(words.end(), words_.begin(), words_.end());
  const KvOutcome outcome = kv_operate(**client, words, json_);
  if (outcome.code == 2)
    return fail({Errc::usage, concat(outcome.text, "; see piracema kv --help")});
  if (outcome.code != 0 && !json_) {
    log(Level::error, outcome.text);
  } else {
    std::printf("%s\n", outcome.text.c_str());
  }
  return outcome.code;
}

}  // namespace piracema::tools
