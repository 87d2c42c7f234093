#pragma once

#include <piracema/batch.h>
#include <piracema/detail/stored_states.h>
#include <piracema/output.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace piracema {

/// A time that means the same in every process and after a restart.
using WallTime = std::chrono::system_clock::time_point;

/// When something happened, as its item says: not when it is worked on.
using EventTime = std::chrono::system_clock::time_point;
/// Nobody has said anything of event time yet.
constexpr EventTime no_event_time = EventTime::min();

/// Where an operator runs.
struct Context {
  std::string node;
  std::uint32_t replica = 0;
  std::uint32_t replicas = 1;
  /// Number of the replica in the whole plan, and how many the plan has.
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  /// True when another process may still hold what this replica had open (a machine that froze
  /// and could not be ended): write to new files, not to those.
  bool previous_may_live = false;
  /// True at the very beginning of the job, or of this operator if it is new in a program that goes
  /// on: no replica of it ever ran before, and nothing is restored.
  bool begins_job = false;
  /// True when this replica was started before in this job, by this process or another one: what it
  /// has made since under a name of its own is the job's, also where nothing of it is restored.
  bool started_before = false;
  /// Has `produce` called again soon; a source that was out of items calls it when it has some.
  /// Any thread, as long as the operator lives.
  std::function<void()> wake;
  /// The time by which timers are set. Any thread, as long as the operator lives.
  std::function<WallTime()> now;
};

namespace detail {
template <class Key>
constexpr bool check_key() {
  constexpr bool is_hashed = requires(const Key& key) { std::hash<Key>{}(key); };
  static_assert(is_hashed,
                "a key is hashed by std::hash: give a number or a string, or specialise std::hash "
                "for the type of the key");
  return is_hashed;
}
}  // namespace detail

}  // namespace piracema

namespace piracema::engine {

/// What a source has done in one call.
enum class Produced { some, nothing_yet, end };

/// A user's code as the runtime sees it: of no type, and called once a batch.
///
/// The blocks in <piracema/blocks.h> make these from plain functions and structs; derive from it
/// only for what they cannot say. Each replica has its own object, made anew at every start and
/// every recovery, and used by one thread at a time. What it throws ends the job by its restart
/// budget.
class Operator {
 public:
  virtual ~Operator() = default;

  /// Called once, after `load` and before the first item.
  virtual void open(const Context&) {}

  /// A node or sink: takes all items of a batch, in order. It may keep the memory of `data`; the
  /// rest stays as it is.
  virtual void process(Batch&, Output&) {}

  /// A source: emits until `output.full()`, or less. Should return within 100 ms: a snapshot, a
  /// recovery and Ctrl-C wait for it. After `nothing_yet` it is called again when it has called
  /// `Context::wake`, and every now and then.
  virtual Produced produce(Output&) { return Produced::end; }

  /// Whether `next_timer` ever says something. A node of a cycle must not: what it sent then could
  /// come after the end of the cycle.
  virtual bool has_timer() const { return false; }
  /// When `on_timer` is to be called; asked after every batch. What it depends on is state, as all
  /// else: a recovery asks anew.
  virtual std::optional<WallTime> next_timer() const { return std::nullopt; }
  /// Called between two batches, at that time or later, and no more once every input has ended.
  /// `now` is what `Context::now` says.
  virtual void on_timer(WallTime now, Output&) { static_cast<void>(now); }

  /// Event time has come to `come`: what this operator gets from now on is not earlier, but for
  /// what was late when its time was read. Called between two batches when that has grown, a
  /// hundred times a second at most; if `gives_event_time`, also at the start, where `come` is
  /// `no_event_time`, and after it has worked. What it emits comes from no batch. Returns
  /// how far event time has come behind all that this operator has emitted, which must not go back.
  virtual EventTime advance(EventTime come, Output&) { return come; }
  /// It has more to do for the last `advance`, and is called again with the same `come`; what it
  /// gets meanwhile is not kept waiting.
  virtual bool is_advancing() const { return false; }
  /// What `advance` returns is its own, whatever comes.
  virtual bool gives_event_time() const { return false; }
  /// After how long without items `idle` is called; none: never.
  virtual std::optional<std::chrono::nanoseconds> idle_after() const { return std::nullopt; }
  /// For so long, and an eighth of it more each time, nothing has come and nothing waits, or a
  /// source has had nothing; not while it waits for room. `now` is what `Context::now` says.
  virtual void idle(WallTime now) { static_cast<void>(now); }
  /// Items that were behind that when they came, since the job began: what is late is state.
  virtual std::uint64_t items_late() const { return 0; }

  /// A node or sink: every input has ended.
  virtual void finish(Output&) {}

  /// Appends the state as it is now. Called between two batches.
  virtual void save(Buffer&) {}
  /// Takes over what `save` wrote, all of it. Throws DecodeError if it cannot.
  virtual void load(Bytes in) {
    if (!in.empty()) detail::left_over(in.size(), in.size());
  }

  /// The states that it has for the keys of its items, which are saved and loaded beside the other;
  /// null if it has none. They lie in `place`, or in memory if that is null. Once, before all else.
  virtual KeyedStates* keyed_states(StatePlace* place) {
    static_cast<void>(place);
    return nullptr;
  }

  /// What `save` writes is made of (detail/state_layout.h), so that a snapshot of a program whose
  /// state had another type is known; empty: nobody knows. Called on an object of its own that is
  /// never opened, and used no more.
  virtual std::string layout() { return {}; }
  /// How many types the states of `keyed_states` had in versions of the program before, of which it
  /// can read them (KeyedStates::reads).
  virtual std::uint32_t former_states() const { return 0; }
  /// What `layout` was with each of these, the newest first. Called as `layout` is.
  virtual std::vector<std::string> former_layouts() { return {}; }
  /// The same as `layout` for items that come by an input, counted from 0: a snapshot may hold some
  /// that are under way.
  virtual std::string layout_of_items(std::uint32_t input) const {
    static_cast<void>(input);
    return {};
  }

  /// `prepare(s)` is called just before `save`; what is emitted in it still belongs to the
  /// snapshot. A sink with transactions: `commit(s)` when snapshot `s` can no longer be lost, and
  /// with it every earlier one that was prepared and has failed; without snapshots `commit(0)`,
  /// once, after `finish`. After a recovery `load`, `open`, then `restored(s)`: commit `s` again,
  /// as that may not have happened, and undo everything later.
  virtual void prepare(std::uint64_t) {}
  virtual void commit(std::uint64_t) {}
  virtual void restored(std::uint64_t) {}

  /// For operators that can be fused: where others bring items by a call instead of a batch, a
  /// `detail::Takes<In>*`; null for those that cannot be called so.
  virtual void* takes() { return nullptr; }
  /// What it emits by output 0 goes to `takes`, which is another operator's, by a call.
  virtual void lead_to(void* takes) { static_cast<void>(takes); }

  /// A source: how much of its input it has read, from 0 to 1; below 0 if it does not know.
  virtual double progress() const { return -1; }
};

}  // namespace piracema::engine
