// Replicas of real processes, and clients whose histories are checked for linearizability while one
// fault after the other happens. Exit code 1 with a counterexample if what clients saw was not
// possible with one map that never fails, or with one line if the group did not recover; 4 if that
// cannot be decided.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

#include "base/log.h"
#include "base/text.h"
#include "cluster/smr/linear/faults.h"
#include "cluster/smr/linear/lease_holders.h"

using namespace piracema;
using namespace piracema::testing;

namespace {

constexpr std::size_t map_keys = 32, lock_keys = 3, lock_clients = 4;

struct Arguments {
  std::uint64_t operations = 20'000, seed = 1;
  std::string model = "crash", directory;
  std::string program = PIRACEMA_COMMAND, liar = SMR_LIAR;
  std::vector<std::string> faults;
  double rate = 500, minutes = 1e6;
  std::size_t clients = 8, state_mb = 4;
  std::uint32_t checkpoint_every = 250;
  bool replace_founders = false;
};

double ms(Time time) { return static_cast<double>(time.count()) / 1e6; }

/// How long the group was not there, by kind of fault.
class Table {
 public:
  void add(const std::string& kind, const Service::Gap& gap, Time recovery) {
    gaps_[kind].push_back(ms(gap.without_answer));
    slowest_[kind].push_back(ms(gap.slowest_answer));
    recoveries_[kind].push_back(ms(recovery));
  }
  void print() const {
    std::printf("\n%-18s %5s %26s %18s %18s\n", "fault", "times", "gap of service, longest, median",
                "slowest answer", "all well after");
    for (const auto& [kind, gaps] : gaps_) {
      std::printf("%-18s %5zu %16.0f %14.0f %15.0f ms %15.0f ms%s\n", kind.c_str(), gaps.size(),
                  longest(gaps), median(gaps), longest(slowest_.at(kind)),
                  longest(recoveries_.at(kind)), longest(gaps) > 1'000 ? "  over 1 s" : "");
    }
  }

 private:
  static double longest(const std::vector<double>& all) {
    return *std::max_element(all.begin(), all.end());
  }
  static double median(std::vector<double> all) {
    std::sort(all.begin(), all.end());
    return (all[(all.size() - 1) / 2] + all[all.size() / 2]) / 2;
  }
  std::map<std::string, std::vector<double>> gaps_, slowest_, recoveries_;
};

/// One group, its clients and what happens to them.
class Run {
 public:
  Run(const Arguments& arguments, Lan& lan)
      : arguments_(arguments), lan_(lan), recorder_(map_keys + lock_keys) {}

  /// Errors: what is wrong.
  Result<Done> run() {
    const bool byzantine = arguments_.model == "byzantine";
    auto started = Replicas::start({.byzantine = byzantine,
                                    .checkpoint_every = arguments_.checkpoint_every,
                                    .directory = arguments_.directory,
                                    .program = arguments_.program,
                                    .liar = arguments_.liar},
                                   lan_);
    if (!started) return started.error();
    Replicas replicas = *std::move(started);
    const ClientPlace place{replicas.configuration(), replicas.client_key(), &recorder_, &service_};
    if (auto done = fill(place); !done) return done;
    if (auto done = replicas.settle(Faults::patience_to_catch_up); !done) return done;
    Clients clients(place, {.count = arguments_.clients,
                            .keys = map_keys,
                            .seed = arguments_.seed,
                            .rate = arguments_.rate});
    LeaseHolders holders(place, map_keys, lock_clients, arguments_.seed + 1);
    Faults faults({&replicas, &clients, &service_, &lan_, &lan_, byzantine,
                   arguments_.checkpoint_every, arguments_.replace_founders},
                  arguments_.seed);
    const auto went = go_through(faults);
    clients.stop();
    holders.stop();
    if (auto right = recorder_.check(); !right) {
      is_undecided_ = right.error().code == Errc::timeout;
      if (is_undecided_) table_.print();
      return right;
    }
    if (!went) return went;
    if (auto done = read_all(place); !done) return done;
    report(holders.figures());
    return Done{};
  }

  /// Whether the error is that nobody knows whether something was wrong.
  bool is_undecided() const { return is_undecided_; }

 private:
  // What checkpoints have to carry.
  Result<Done> fill(const ClientPlace& place) const {
    auto client = smr::Client::open(
        place.configuration,
        {.id = 1, .key_file = place.key_file, .timeout = std::chrono::seconds(60)});
    if (!client) return client.error();
    const std::string value(50'000, 'x');
    for (std::size_t i = 0; i < arguments_.state_mb * 20; ++i) {
      const auto answer = (*client)->invoke_ordered(
          smr::kv::encode(smr::kv::Put{.key = concat("fill-", i), .value = value}));
      if (!answer) return answer.error();
    }
    return Done{};
  }

  // Each kind once, in this order; then any, until there were operations enough.
  Result<Done> go_through(Faults& faults) {
    std::vector<std::string> kinds = arguments_.faults;
    if (kinds.empty()) kinds = faults.kinds();
    Random random(arguments_.seed);
    Time said = now();
    const auto end = now() + std::chrono::duration_cast<Time>(
                                 std::chrono::duration<double, std::ratio<60>>(arguments_.minutes));
    for (std::size_t i = 0; i < kinds.size() || recorder_.checked() < arguments_.operations; ++i) {
      if (i >= kinds.size() && now() > end) break;
      const std::string& kind = i < kinds.size() ? kinds[i] : kinds[random.below(kinds.size())];
      if (!faults.can_happen(kind)) continue;
      service_.begin();
      const Time begun = now();
      const auto done = faults.happen(kind);
      const Service::Gap gap = service_.end();
      table_.add(kind, gap, now() - begun);
      count_ += 1;
      if (!recorder_.check()) return Done{};  // `run` says it.
      if (!done) {
        return Error{done.error().code, concat("fault ", i, ", ", kind, ", after ",
                                               human_seconds(ms(now() - begun) / 1e3), ", at most ",
                                               human_seconds(ms(gap.without_answer) / 1e3),
                                               " of them without an answer: ", done.error().message,
                                               "\nreplicas now: ", faults.replicas_now())};
      }
      if (ms(gap.without_answer) > 1'000) {
        std::printf("fault %zu, %s: %.0f ms without an answer\n", i, kind.c_str(),
                    ms(gap.without_answer));
      }
      if (now() - said > std::chrono::seconds(15)) {
        said = now();
        std::printf("%s, %llu faults, %llu operations checked\n", arguments_.model.c_str(),
                    static_cast<unsigned long long>(count_),
                    static_cast<unsigned long long>(recorder_.checked()));
      }
      std::fflush(stdout);
    }
    return Done{};
  }

  // What was lost and never read shows now.
  Result<Done> read_all(const ClientPlace& place) {
    auto client = smr::Client::open(
        place.configuration, {.id = 1, .key_file = place.key_file, .timeout = Faults::patience});
    if (!client) return client.error();
    for (std::size_t key = 0; key < map_keys; ++key) {
      const auto number = recorder_.called(key, 9'999, {KeyModel::Kind::get});
      const auto answer =
          (*client)->invoke_unordered(smr::kv::encode(smr::kv::Get{concat("key-", key)}));
      if (!answer) return answer.error();
      const auto reply = smr::kv::decode_reply(*answer);
      if (!reply) return reply.error();
      const bool is_there = reply->status == smr::kv::Status::ok && !reply->entries.empty();
      recorder_.answered(key, number, {true, is_there ? number_of(reply->entries[0].value) : 0});
    }
    return recorder_.check();
  }

  void report(const LeaseHolders::Figures& leases) const {
    table_.print();
    std::printf(
        "\n%s, seed %llu: %llu operations are linearizable, %llu of them without an answer; %llu "
        "faults%s\nkeys held by lease %llu times: %llu given back, %llu left to end; longest seen "
        "after its end %.0f ms\n",
        arguments_.model.c_str(), static_cast<unsigned long long>(arguments_.seed),
        static_cast<unsigned long long>(recorder_.checked()),
        static_cast<unsigned long long>(recorder_.lost_count()),
        static_cast<unsigned long long>(count_),
        lan_.has_cables() ? "" : " (nothing was cut: no networks may be made here)",
        static_cast<unsigned long long>(leases.held),
        static_cast<unsigned long long>(leases.given_back),
        static_cast<unsigned long long>(leases.left_to_end), ms(leases.outlived));
  }

  const Arguments& arguments_;
  Lan& lan_;
  Recorder recorder_;
  Service service_;
  Table table_;
  std::uint64_t count_ = 0;
  bool is_undecided_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Checks that replicas of `piracema kv` are linearizable, whatever happens to one.");
  app.add_option("--operations", arguments.operations, "At least so many, and each fault once");
  app.add_option("--seed", arguments.seed, "Of what clients do, and of faults");
  app.add_option("--model", arguments.model, "Of faults: crash, byzantine")
      ->check(CLI::IsMember({"crash", "byzantine"}));
  app.add_option("--faults", arguments.faults, "Kinds, by commas; default: all")->delimiter(',');
  app.add_option("--rate", arguments.rate, "Operations a second of all clients; 0: no limit");
  app.add_option("--minutes", arguments.minutes, "Ends then, with fewer operations if need be");
  app.add_option("--clients", arguments.clients, "Threads that ask")->check(CLI::Range(1, 32));
  app.add_option("--state-mb", arguments.state_mb, "That checkpoints carry")
      ->check(CLI::Range(0, 1'000));
  app.add_option("--checkpoint-every", arguments.checkpoint_every, "Instances")
      ->check(CLI::Range(32, 1'000'000));
  app.add_flag("--replace-founders", arguments.replace_founders,
               "Also the last two replicas that the group began with");
  app.add_option("--program", arguments.program, "The `piracema` command, piracema-kv beside it");
  app.add_option("--liar", arguments.liar, "The replica that lies");
  app.add_option("--directory", arguments.directory, "Empty; default: a new one");
  CLI11_PARSE(app, argc, argv);
  set_log_process("linear");

  Lan lan;
  std::string made = (std::filesystem::temp_directory_path() / "smr-linear-XXXXXX").string();
  if (arguments.directory.empty()) {
    if (::mkdtemp(made.data()) == nullptr) return 3;
    arguments.directory = made;
  }
  Run run(arguments, lan);
  const auto done = run.run();
  if (done) {
    if (arguments.directory == made) std::filesystem::remove_all(made);
    return 0;
  }
  std::fprintf(stderr, "%s, seed %llu: %s\nlogs and disks of the replicas: %s\n",
               arguments.model.c_str(), static_cast<unsigned long long>(arguments.seed),
               done.error().message.c_str(), arguments.directory.c_str());
  return run.is_undecided() ? 4 : 1;
}
