// The linked list and the tuple space of paper 003, section 4, by replicas of real processes with
// several execution threads (services_main.cpp), which are killed and come back while clients ask,
// or of which one lies.

#include <doctest/doctest.h>
#include <piracema/smr/status.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

#include "cluster/smr/crowd.h"
#include "cluster/smr/services_main.h"

using namespace piracema;
using namespace piracema::testing;

namespace {

/// Of a number it is known whether the list holds it.
struct ListModel : KvModel {
  using State = bool;
  static State start() { return false; }
  static std::uint64_t hash(State state) { return state ? 2 : 1; }
  static std::optional<State> step(State state, const Input& input, const Output* output) {
    const bool done = input.kind == Kind::create ? !state : state;
    if (output != nullptr && output->done != done) return std::nullopt;
    return input.kind == Kind::get ? state : input.kind == Kind::create;
  }
};

/// `add`, `remove` and `contains` of a few numbers that the list did not hold in the beginning.
struct ListService {
  using Model = ListModel;
  static constexpr const char* name = "list";

  static Model::Input draw(Random& random, std::uint64_t) {
    constexpr std::array kinds{Model::Kind::create, Model::Kind::remove, Model::Kind::get,
                               Model::Kind::get};
    return {.kind = kinds[random.below(kinds.size())], .key = random.below(key_count)};
  }
  static Result<Buffer> ask(smr::Client& client, const Model::Input& input) {
    const auto action = input.kind == Model::Kind::create   ? LinkedList::Action::add
                        : input.kind == Model::Kind::remove ? LinkedList::Action::remove
                                                            : LinkedList::Action::contains;
    const LinkedList::Operation operation{action, number_of(input.key)};
    return client.invoke_parallel(LinkedList::group(operation), LinkedList::encode(operation));
  }
  static std::optional<Model::Output> output_of(const Model::Input&, Bytes reply) {
    if (as_text(reply) != "y" && as_text(reply) != "n") return std::nullopt;
    return Model::Output{.value = {}, .done = as_text(reply) == "y"};
  }
  static std::int32_t number_of(std::uint64_t key) {
    return list_size + static_cast<std::int32_t>(key);
  }
};

/// The tuples of one number of fields, the oldest first.
struct TupleModel {
  using State = std::vector<std::uint64_t>;
  using Kind = TupleSpace::Action;
  struct Input {
    Kind kind = Kind::rdp;
    std::uint64_t key = 0, value = 0;
  };
  struct Output {
    /// Of rdp and inp; nullopt if there was none.
    std::optional<std::uint64_t> value;
  };

  static State start() { return {}; }
  static std::uint64_t hash(const State& state) {
    std::uint64_t hash = 1;
    for (const std::uint64_t value : state) hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
    return hash;
  }
  static std::uint64_t key(const Input& input) { return input.key; }
  static std::optional<State> step(State state, const Input& input, const Output* output) {
    if (input.kind == Kind::out) {
      state.push_back(input.value);
      return state;
    }
    const auto oldest = state.empty() ? std::nullopt : std::optional(state.front());
    if (output != nullptr && output->value != oldest) return std::nullopt;
    if (input.kind == Kind::inp && oldest) state.erase(state.begin());
    return state;
  }
  static std::string text(const Input& input, const Output& output) {
    static const char* const names[] = {"out", "rdp", "inp"};
    return concat(names[static_cast<int>(input.kind)], " ", input.value, " -> ",
                  output.value ? std::to_string(*output.value) : "nothing");
  }
};

/// Jobs that are put, looked at and taken, in turns with others.
struct TupleService {
  using Model = TupleModel;
  static constexpr const char* name = "tuples";

  static Model::Input draw(Random& random, std::uint64_t value) {
    constexpr std::array kinds{Model::Kind::out, Model::Kind::inp, Model::Kind::rdp,
                               Model::Kind::rdp};
    return {kinds[random.below(kinds.size())], arity_min + random.below(arity_max - arity_min + 1),
            value};
  }
  static Result<Buffer> ask(smr::Client& client, const Model::Input& input) {
    TupleSpace::Operation operation{input.kind, TupleSpace::Template(input.key)};
    operation.fields[0] = "job";
    if (input.kind == Model::Kind::out) {
      const auto job = make_tuple("job", input.value, input.key);
      operation.fields.assign(job.begin(), job.end());
    }
    return client.invoke_parallel(TupleSpace::group(operation, tuple_conflicts, execution_threads),
                                  TupleSpace::encode(operation));
  }
  static std::optional<Model::Output> output_of(const Model::Input& input, Bytes reply) {
    if (reply.empty()) return Model::Output{};
    const auto tuple = TupleSpace::decode_reply(reply);
    if (!tuple || tuple->size() != input.key || (*tuple)[0] != "job") return std::nullopt;
    return Model::Output{std::strtoull((*tuple)[1].c_str(), nullptr, 10)};
  }
};

/// What a replica has left when it ended.
struct End {
  std::size_t threads = 0;
  std::string state;
};

/// What its replicas do but for being killed and coming back.
enum class Faults { crash, byzantine, one_lies };

class Group {
 public:
  Group(const char* service, Faults faults) {
    const bool byzantine = faults != Faults::crash;
    ::setenv("SERVICE", service, 1);
    ::unsetenv("LIAR");
    if (faults == Faults::one_lies) {
      liar_ = 0;  // The first leader.
      ::setenv("LIAR", "0", 1);
    }
    const std::size_t n = byzantine ? 4 : 3;
    std::map<std::size_t, std::string> programs;
    for (std::size_t i = 0; i < n; ++i) programs[i] = SMR_SERVICE;
    auto made = tools::KvGroup::make(
        {.byzantine = byzantine, .directory = folder_.path(), .programs = programs});
    REQUIRE(made.ok());
    group_.emplace(*std::move(made));
  }
  tools::KvGroup& operator*() { return *group_; }
  tools::KvGroup* operator->() { return &*group_; }
  std::size_t size() const { return group_->configuration().replicas.size(); }
  std::optional<std::size_t> liar() const { return liar_; }

  /// All but the liar execute all that any of them has decided, and end.
  std::vector<End> end() {
    std::ofstream(folder_.path() + "/last") << wait_until_all_know_the_last();
    group_->end(seconds(60));
    std::vector<End> ends;
    for (std::size_t i = 0; i < size(); ++i) {
      if (i == liar_) continue;
      std::ifstream file(concat(folder_.path(), "/replica-", i, ".end"), std::ios::binary);
      std::stringstream rest;
      End& end = ends.emplace_back();
      file >> end.threads;
      file.get();
      rest << file.rdbuf();
      end.state = rest.str();
    }
    return ends;
  }

 private:
  std::uint64_t wait_until_all_know_the_last() {
    std::uint64_t last = 0;
    for (int tries = 0; tries < 600; ++tries) {
      const auto status =
          smr::ask_status(group_->configuration(), {.key_file = group_->client_key()});
      REQUIRE(status.ok());
      for (const auto& one : status->replicas) {
        if (one.id != liar_) last = std::max(last, one.decided);
      }
      bool all = true;
      for (const auto& one : status->replicas) {
        all = all && (one.id == liar_ || one.decided == last);
      }
      if (all) return last;
      // Asked again and again: nobody tells.
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    FAIL("not all have caught up");
    return last;
  }

  GroupFolder folder_;
  std::optional<tools::KvGroup> group_;
  std::optional<std::size_t> liar_;
};

/// Five are killed, every second time the leader, and come back; the second one after so long that
/// it has to fetch a checkpoint. Beside a liar they come back at once, as it is the fault that is
/// borne.
template <class Service>
void kill_and_start(Group& group, CrowdOf<Service>& crowd) {
  Random random(3);
  for (int i = 0; i < 5; ++i) {
    REQUIRE(crowd.wait_for(50));
    const auto leader = crowd.leader();
    std::size_t victim = i % 2 == 0 && leader ? *leader : random.below(group.size());
    if (victim == group.liar()) victim = 1 + random.below(group.size() - 1);
    CAPTURE(i);
    CAPTURE(victim);
    REQUIRE(group->kill(victim).ok());
    if (!group.liar()) REQUIRE(crowd.wait_for(i == 1 ? 10 * checkpoint_every : 50));
    REQUIRE(group->start(victim).ok());
  }
  REQUIRE(crowd.wait_for(200));
  crowd.stop();
}

/// The state that all of them end in.
std::string common_state(Group& group) {
  for (const std::size_t replica : group->ended()) CHECK(replica == group.liar());
  const std::vector<End> ends = group.end();
  std::size_t threads = 0;
  for (const End& end : ends) {
    CHECK(!end.state.empty());
    CHECK(end.state == ends[0].state);
    threads = std::max(threads, end.threads);
  }
  CHECK(threads > 1);
  return ends[0].state;
}

template <class Service>
void check_history(CrowdOf<Service>& crowd) {
  crowd.leave();
  for (const auto& operation : crowd.operations()) REQUIRE(operation.answer.has_value());
  const auto verdict = check(crowd.operations());
  CHECK(verdict.is == Verdict::Is::linearizable);
  CHECK(verdict.why == "");
  MESSAGE(std::string(Service::name), ": ", crowd.operations().size(), " operations");
}

void live_as_list(Faults faults) {
  Group group(ListService::name, faults);
  CrowdOf<ListService> crowd(*group, 8, seconds(60));
  kill_and_start(group, crowd);
  for (std::uint64_t key = 0; key < key_count; ++key) {
    crowd.ask_once({.kind = KvModel::Kind::get, .key = key});
  }
  check_history(crowd);
  LinkedList list(0);
  REQUIRE(list.restore(as_bytes(common_state(group))));
  std::size_t held = 0;
  for (std::uint64_t key = 0; key < key_count; ++key) {
    const auto& last = *(crowd.operations().end() - key_count + static_cast<std::ptrdiff_t>(key));
    const auto contains =
        LinkedList::encode({LinkedList::Action::contains, ListService::number_of(key)});
    CHECK((as_text(list.query(contains)) == "y") == last.output.done);
    held += last.output.done;
  }
  CHECK(list.size() == list_size + held);
}

/// Each tuple that was put was taken by one client, or is still there.
void check_tuples(const Operations<TupleModel>& operations, TupleSpace& space) {
  std::set<std::uint64_t> taken;
  std::map<std::uint64_t, std::size_t> put;
  for (const auto& operation : operations) {
    if (operation.input.kind == TupleModel::Kind::out) {
      put[operation.input.value] = operation.input.key;
    } else if (operation.input.kind == TupleModel::Kind::inp && operation.output.value) {
      CAPTURE(*operation.output.value);
      CHECK(taken.insert(*operation.output.value).second);
    }
  }
  std::size_t left = 0;
  for (const auto& [number, arity] : put) {
    CAPTURE(number);
    const auto job = make_tuple("job", number, arity);
    const auto found = space.query(TupleSpace::rdp({job.begin(), job.end()}));
    CHECK(found.empty() == taken.contains(number));
    left += !found.empty();
  }
  CHECK(taken.size() + left == put.size());
  CHECK(space.size() == stones * (arity_max - arity_min + 1) + left);
  CHECK(taken.size() > 50);
}

void live_as_tuples(Faults faults) {
  Group group(TupleService::name, faults);
  CrowdOf<TupleService> crowd(*group, 8, seconds(60));
  kill_and_start(group, crowd);
  check_history(crowd);
  TupleSpace space(tuple_conflicts);
  REQUIRE(space.restore(as_bytes(common_state(group))));
  check_tuples(crowd.operations(), space);
}

}  // namespace

TEST_CASE("a replicated list loses nothing, and all replicas end with the same one") {
  SUBCASE("three that crash") { live_as_list(Faults::crash); }
  SUBCASE("four of which one may lie, and crash") { live_as_list(Faults::byzantine); }
  SUBCASE("four of which the first leader lies") { live_as_list(Faults::one_lies); }
}

TEST_CASE("a replicated tuple space gives each tuple to one client, and all end with the rest") {
  SUBCASE("three that crash") { live_as_tuples(Faults::crash); }
  SUBCASE("four of which one may lie, and crash") { live_as_tuples(Faults::byzantine); }
  SUBCASE("four of which the first leader lies") { live_as_tuples(Faults::one_lies); }
}
