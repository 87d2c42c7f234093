#include "cluster/smr/linear/replicas.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <thread>

#include "base/clock.h"
#include "base/text.h"
#include "smr/link/keys.h"
#include "store/disk/files.h"
#include "tools/kv/group.h"

namespace piracema::testing {

using namespace smr;

namespace {

std::string text_of(const GroupStatus& group) {
  std::string text;
  for (const auto& one : group.replicas) {
    text += concat(" ", one.id, ": ");
    if (!one.trouble.empty()) {
      text += one.trouble + ";";
      continue;
    }
    text += concat("view ", one.view, " regency ", one.regency, " leader ", one.leader,
                   one.is_member ? "" : " no member", one.silent ? " silent" : "", " decided ",
                   one.decided, " connected to");
    for (const std::uint32_t id : one.connected) text += concat(" ", id);
    text += ";";
  }
  return text;
}

}  // namespace

Result<Replicas> Replicas::start(const Options& options, Lan& lan) {
  Replicas group(options, lan);
  if (auto done = group.lay_out(); !done) return done.error();
  for (auto& [number, replica] : group.replicas_) {
    if (auto done = group.start_again(number); !done) return done.error();
  }
  return group;
}

Replicas::~Replicas() {
  for (auto& [number, replica] : replicas_) kill(number);
}

Result<Done> Replicas::lay_out() {
  configuration_.name = "linear";
  configuration_.byzantine = options_.byzantine;
  configuration_.checkpoint_every = options_.checkpoint_every;
  for (std::uint32_t i = 0; i < (options_.byzantine ? 4 : 3); ++i) {
    const auto replica = new_replica(i, false);
    if (!replica) return replica.error();
    configuration_.replicas.push_back(*replica);
  }
  const auto client = tools::new_key(client_key());
  if (!client) return client.error();
  configuration_.clients.push_back({1, *client});
  const auto administrator = tools::new_key(options_.directory + "/administrator.key");
  if (!administrator) return administrator.error();
  configuration_.administrator = *administrator;
  return write_configuration();
}

Result<Configuration::Replica> Replicas::new_replica(std::uint32_t number, bool added) {
  const auto key = tools::new_key(place_of(number) + ".key");
  if (!key) return key.error();
  std::string address = lan_->address_of(number);
  if (address.empty() && lan_->has_cables()) {
    return Error{Errc::failed, concat("replica ", number, " got no network of its own")};
  }
  if (address.empty()) {
    std::vector<Fd> held;
    const auto port = tools::draw_port(held);
    if (!port) return port.error();
    address = concat("127.0.0.1:", *port);
  }
  replicas_[number];
  return Configuration::Replica{number, address, *key, added};
}

Result<Done> Replicas::write_configuration() const {
  const std::string text = to_text(configuration_);
  const std::array<Bytes, 1> pieces{as_bytes(text)};
  return store::replace_file(options_.directory + "/group.toml", pieces);
}

std::vector<std::uint32_t> Replicas::members() const {
  std::vector<std::uint32_t> members;
  for (const auto& [number, replica] : replicas_) members.push_back(number);
  return members;
}

bool Replicas::is_needed_founder(std::uint32_t replica) const {
  const std::uint32_t founders = options_.byzantine ? 4 : 3;
  const auto left = std::count_if(replicas_.begin(), replicas_.end(),
                                  [&](const auto& one) { return one.first < founders; });
  return replica < founders && left <= 2;
}

Result<Done> Replicas::launch(std::uint32_t replica, const std::string& program) {
  const std::string place = place_of(replica), number = std::to_string(replica),
                    key = place + ".key", config = options_.directory + "/group.toml",
                    log = place + ".log";
  std::vector<const char*> words = {"piracema",     "kv",          "replica",      "--config",
                                    config.c_str(), "--id",        number.c_str(), "--key",
                                    key.c_str(),    "--directory", place.c_str()};
  Replica& one = replicas_.at(replica);
  if (!std::exchange(one.has_run, true)) words.push_back("--first-start");
  words.push_back(nullptr);
  const int network = lan_->network_of(replica);
  const Fd errors(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  const pid_t parent = ::getpid(), pid = ::fork();
  if (pid < 0) return Error{Errc::io, with_errno("starting a process")};
  if (pid == 0) {
    // It ends with this process, and Ctrl-C is for this one alone.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setpgid(0, 0);
    ::dup2(errors.get(), STDERR_FILENO);
    const bool is_there = network < 0 || ::setns(network, CLONE_NEWNET) == 0;
    if (is_there && ::getppid() == parent) {
      ::execv(program.c_str(), const_cast<char* const*>(words.data()));
    }
    ::_exit(127);
  }
  one.pid = pid;
  return Done{};
}

Result<Done> Replicas::start_again(std::uint32_t replica) {
  return launch(replica, options_.program);
}
Result<Done> Replicas::start_liar(std::uint32_t replica) { return launch(replica, options_.liar); }

void Replicas::kill(std::uint32_t replica) {
  const pid_t pid = std::exchange(replicas_.at(replica).pid, 0);
  if (pid == 0) return;
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}
void Replicas::stop(std::uint32_t replica) { ::kill(replicas_.at(replica).pid, SIGSTOP); }
void Replicas::go_on(std::uint32_t replica) { ::kill(replicas_.at(replica).pid, SIGCONT); }

void Replicas::lose_disk(std::uint32_t replica) {
  std::error_code ignored;
  std::filesystem::remove_all(place_of(replica), ignored);
}

Result<Done> Replicas::begin_anew() {
  for (auto& [number, replica] : replicas_) {
    kill(number);
    lose_disk(number);
    replica.has_run = false;
  }
  for (auto& [number, replica] : replicas_) {
    if (auto started = start_again(number); !started) return started;
  }
  return Done{};
}

Result<Done> Replicas::replace(std::uint32_t replica) {
  const std::uint32_t number = configuration_.replicas.back().id + 1;
  const auto added = new_replica(number, true);
  if (!added) return added.error();
  configuration_.replicas.push_back(*added);
  if (auto written = write_configuration(); !written) return written.error();
  if (auto started = start_again(number); !started) return started.error();
  auto administrator =
      Administrator::open(configuration_, {.key_file = options_.directory + "/administrator.key",
                                           .timeout = std::chrono::seconds(120)});
  if (!administrator) return administrator.error();
  const auto members = (*administrator)->change({.remove = {replica}, .add = {*added}});
  if (!members) return members.error();
  kill(replica);
  lose_disk(replica);
  replicas_.erase(replica);
  lan_->forget(replica);
  return Done{};
}

std::vector<std::uint32_t> Replicas::ended() const {
  std::vector<std::uint32_t> gone;
  for (const auto& [number, replica] : replicas_) {
    siginfo_t info{};
    const bool known = replica.pid != 0 && ::waitid(P_PID, static_cast<id_t>(replica.pid), &info,
                                                    WEXITED | WNOHANG | WNOWAIT) == 0;
    if (known && info.si_pid != 0) gone.push_back(number);
  }
  return gone;
}

GroupStatus Replicas::status() const {
  // Those that have left answer no more, and would be waited for.
  Configuration present = configuration_;
  std::erase_if(present.replicas,
                [&](const auto& replica) { return !replicas_.contains(replica.id); });
  for (auto& replica : present.replicas) replica.added = false;
  const auto status =
      ask_status(present, {.key_file = client_key(), .timeout = std::chrono::seconds(1)});
  return status ? *status : GroupStatus{};
}

Result<std::uint32_t> Replicas::leader(std::chrono::seconds patience) const {
  const Time until = now() + patience;
  while (true) {
    const GroupStatus found = status();
    if (found.leader) return *found.leader;
    if (now() > until) return Error{Errc::timeout, "there is no leader:" + text_of(found)};
    // Nobody tells.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

std::string Replicas::now_as_text() const { return text_of(status()); }

std::uint64_t Replicas::decided() const {
  std::uint64_t decided = 0;
  for (const auto& one : status().replicas) decided = std::max(decided, one.decided);
  return decided;
}

Result<Done> Replicas::settle(std::chrono::seconds patience) const {
  const Time until = now() + patience;
  const std::uint64_t wanted = decided();
  while (true) {
    const GroupStatus found = status();
    bool is_well = found.leader.has_value();
    for (const auto& one : found.replicas) {
      is_well = is_well && one.trouble.empty() && one.is_member && !one.silent &&
                one.decided >= wanted && one.connected.size() + 1 >= replicas_.size();
    }
    if (is_well) return Done{};
    if (now() > until) {
      return Error{Errc::timeout, concat("not all have caught up with ", wanted)};
    }
    // Asked again and again: nobody tells.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace piracema::testing
