#include "tools/kv/start.h"

#include <piracema/smr/client.h>
#include <poll.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdio>
#include <optional>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "tools/failure.h"
#include "tools/kv/group.h"
#include "tools/log_options.h"

namespace piracema::tools {

namespace {

constexpr int look_ms = 100;
/// To write down what it has; a replica that takes longer is killed, which loses nothing.
constexpr std::chrono::seconds end_time{10};
/// A replica that has run for less was started wrongly: to start it again would change nothing.
constexpr std::chrono::seconds least_life{2};

std::atomic<bool> stop_asked = false;

void say(const std::string& text) {
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

/// The replicas of a group, for as long as this process is not told to end.
class Running {
 public:
  Running(KvGroup group, std::unique_ptr<smr::Client> client)
      : group_(std::move(group)),
        client_(std::move(client)),
        started_(group_.configuration().replicas.size(), now()) {}

  int run() {
    while (!stop_asked) {
      if (const auto failed = start_ended_again()) {
        group_.end(end_time);
        return fail(*failed);
      }
      const auto leader = client_->leader();
      if (leader && leader != leader_) say(concat("replica ", *leader, " leads"));
      leader_ = leader;
      ::poll(nullptr, 0, look_ms);
    }
    client_.reset();  // Ends its session while there is a group.
    say("ends");
    group_.end(end_time);
    return 0;
  }

 private:
  std::optional<Error> start_ended_again() {
    for (const std::size_t replica : group_.ended()) {
      if (now() - started_[replica] < Time(least_life)) {
        return Error{Errc::config, concat("replica ", replica,
                                          " ends as soon as it is started: it has said above why")};
      }
      say(concat("replica ", replica, " has ended and is started again"));
      started_[replica] = now();
      if (auto done = group_.start(replica); !done) return done.error();
    }
    return std::nullopt;
  }

  KvGroup group_;
  std::unique_ptr<smr::Client> client_;
  std::vector<Time> started_;
  std::optional<std::uint32_t> leader_;
};

}  // namespace

KvStart::KvStart(CLI::App& kv, const std::string& footer) {
  const auto add = [&](const char* name, const char* help) {
    CLI::App* const command = kv.add_subcommand(name, help);
    command
        ->add_option("--directory", directory_,
                     "For keys, configuration and what replicas keep; made if need be")
        ->required();
    command->add_option("--name", name_, "Of the group; default: kv");
    command->add_flag("--byzantine", byzantine_, "Replicas may lie; else they only stop");
    command->add_flag("--memory", memory_, "Replicas write nothing to disk");
    return command;
  };
  start_ = add("start", "Make a group, or take the one that is there, and run its replicas here");
  start_->add_option("--replicas", replicas_, "How many; default: 3, and 4 if they may lie")
      ->check(CLI::Range(1, 31));
  add_log_options(*start_);
  start_->footer(
      concat("Until Ctrl-C or SIGTERM; with the same directory it goes on with what is there.\n\n"
             "Example:\n  piracema kv start --directory g --replicas 3\n"
             "  piracema kv put --config g/group.toml --key g/client.key color blue\n\n",
             footer));
  init_ = add("init", "Make keys and configuration of a group whose replicas run elsewhere");
  init_->add_option("ADDRESSES", addresses_, "Of each replica: 10.0.0.1:7300 10.0.0.2:7300 ...")
      ->required();
  init_->footer(
      concat("Example:\n"
             "  piracema kv init --directory g 10.0.0.1:7300 10.0.0.2:7300 "
             "10.0.0.3:7300\n\n",
             footer));
}

int KvStart::run() const { return start_->parsed() ? start() : init(); }

int KvStart::start() const {
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction action {};
    action.sa_handler = [](int) { stop_asked = true; };
    ::sigaction(signal, &action, nullptr);
  }
  KvGroup::Options options{.byzantine = byzantine_, .durable = !memory_, .directory = directory_};
  options.name = name_;
  options.replicas = replicas_;
  auto group = KvGroup::make(options);
  if (!group) return fail(group.error());
  auto client =
      smr::Client::open(group->configuration(), {.id = 1, .key_file = group->client_key()});
  if (!client) return fail(client.error());
  say(concat("group ", group->configuration().name, " of ", group->configuration().replicas.size(),
             ", ask it with: --config ", group->configuration_file(), " --key ",
             group->client_key()));
  return Running(*std::move(group), *std::move(client)).run();
}

int KvStart::init() const {
  KvGroup::Options options{.byzantine = byzantine_, .durable = !memory_, .directory = directory_};
  options.name = name_;
  options.addresses = addresses_;
  const auto made = KvGroup::lay_out_only(options);
  if (!made) return fail(made.error());
  const std::string file = concat(directory_, "/group.toml");
  say(concat("wrote ", file,
             " and a key file for each replica, client.key and administrator.key. "
             "Copy ",
             "group.toml and its key to the machine of each replica, and run there:"));
  for (const auto& replica : made->replicas) {
    say(concat("  piracema kv replica --config group.toml --id ", replica.id, " --key replica-",
               replica.id, ".key --directory d", replica.id, " --first-start    # at ",
               replica.address));
  }
  return 0;
}

}  // namespace piracema::tools
