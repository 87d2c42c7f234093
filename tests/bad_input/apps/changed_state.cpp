// A program of which there are several: each has another type of state in its node "count".
//
//     changed_state OUT STATE [resume] [allow] [strict] [quick]
//
// STATE says which: whole (map of int64, then a number and a text), narrow (map of int32), swapped
// (text, then the number), shorter (no text), none (nothing is saved), captured (by a lambda),
// changing (in a lambda), private (`serialize` cannot be called), farm (whole, three replicas that
// take items as they come), grouped (the same by key).
#include <piracema/piracema.h>

#include <cereal/types/map.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <thread>

using namespace piracema;

namespace {

// Of a thousandth of a second each, as a job is to be stopped in the middle, or `quick`.
constexpr std::int64_t items = 4'000;

struct Numbers {
  bool quick = false;
  std::int64_t sent = 0;
  std::optional<std::int64_t> operator()() {
    if (sent == items) return std::nullopt;
    if (!quick) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return ++sent;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(sent);
  }
};

enum class State { whole, narrow, swapped, shorter };

template <State state>
struct Count {
  std::map<std::int64_t, std::conditional_t<state == State::narrow, std::int32_t, std::int64_t>> of;
  std::int64_t all = 0;
  std::string last = "none";

  std::int64_t operator()(const std::int64_t& n) {
    all += 1;
    last = std::to_string(n);
    return of[n % 10] += 1;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    if constexpr (state == State::swapped) {
      archive(of, last, all);
    } else if constexpr (state == State::shorter) {
      archive(of, all);
    } else {
      archive(of, all, last);
    }
  }
};

class Private {
 public:
  std::int64_t operator()(const std::int64_t&) { return count_ += 1; }

 private:
  template <class Archive>
  void serialize(Archive& archive) {
    archive(count_);
  }
  std::int64_t count_ = 0;
};

std::int64_t key(const std::int64_t& n) { return n % 10; }

template <class Block>
int run_with(Block block, const std::string& out, const RunOptions& options, bool quick) {
  const auto text = [](const std::int64_t& n) { return std::to_string(n); };
  return run(pipeline(source("numbers", Numbers{quick}), std::move(block), node("text", text),
                      sink("out", LineSink(out))),
             options);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string out = argv[1], state = argv[2];
  RunOptions options{.snapshot_interval = std::chrono::milliseconds(50)};
  for (int i = 3; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "resume") options.resume = true;
    if (word == "allow") options.allow_changed_state = true;
    if (word == "strict") options.strict = true;
  }
  std::int64_t count = 0;
  const bool quick = std::string(argv[argc - 1]) == "quick";
  if (state == "narrow")
    return run_with(node("count", Count<State::narrow>{}), out, options, quick);
  if (state == "swapped")
    return run_with(node("count", Count<State::swapped>{}), out, options, quick);
  if (state == "shorter")
    return run_with(node("count", Count<State::shorter>{}), out, options, quick);
  if (state == "none") return run_with(node("count", key), out, options, quick);
  if (state == "captured") {
    return run_with(node("count", [&count](const std::int64_t&) { return count += 1; }), out,
                    options, quick);
  }
  if (state == "changing") {
    return run_with(node("count", [count](const std::int64_t&) mutable { return count += 1; }), out,
                    options, quick);
  }
  if (state == "private") return run_with(node("count", Private{}), out, options, quick);
  if (state == "farm")
    return run_with(farm("count", 3, Count<State::whole>{}), out, options, quick);
  if (state == "grouped") {
    return run_with(farm("count", 3, Count<State::whole>{}).by_key(key), out, options, quick);
  }
  return run_with(node("count", Count<State::whole>{}), out, options, quick);
}
