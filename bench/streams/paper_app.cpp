// Programs of paper 004's section 4, for bench/streams/figures.py. Each is cut into groups, G0, G1,
// …; what they print is told beside each.
//
//     paper_app alltoall LEFT RIGHT MEGABYTES        seconds (Fig. 9, bottom right)
//     paper_app grain GROUPS WORKERS TASKS MICROS    seconds, then tasks of each group (Fig. 10)
//     paper_app words SOURCES LINES_A_SECOND LINES   seconds, words (Fig. 11)
#include <piracema/piracema.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "bench/common/word_pool.h"

using namespace piracema;

namespace {

using Clock = std::chrono::steady_clock;

double seconds() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

/// When the first item was made anywhere and the last one was taken.
struct Span {
  double first = 0, last = 0;

  void add(double made) {
    if (first == 0 || made < first) first = made;
    last = seconds();
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(first, last);
  }
};

std::string brick(const char* node, std::uint32_t replica) {
  return std::string(node) + "/" + std::to_string(replica);
}

// ---- Fig. 9: each left worker has a part of a file, whose pieces go to the right workers in turn

struct Chunk {
  Chunk() {}  // Leaves `bytes` as they are: what counts is that they travel.
  double made;
  std::uint64_t to;
  std::array<char, (64 << 10) - 16> bytes;
};

struct Read {
  std::uint64_t chunks = 0, right = 0;
  std::uint64_t sent = 0, first_to = 0, each = 0;
  double start_s = 0;

  void start(const Context& context) {
    chunks /= context.replicas;
    const std::uint64_t mine = std::max<std::uint64_t>(right / context.replicas, 1);
    first_to = context.replica * mine % right;
    each = std::max<std::uint64_t>(chunks / mine, 1);
    start_s = seconds();
  }
  std::optional<Chunk> operator()() {
    std::optional<Chunk> chunk;
    if (sent == chunks) return chunk;
    chunk.emplace();
    chunk->made = start_s;
    chunk->to = (first_to + sent / each) % right;
    sent += 1;
    return chunk;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(sent);
  }
};

struct Take {
  Span span;
  std::uint64_t got = 0;

  struct Taken {
    double first, last;
    std::uint64_t chunks;
  };
  void operator()(const Chunk& chunk, Emit<Taken>&) {
    span.add(chunk.made);
    got += 1;
  }
  void finish(Emit<Taken>& emit) const { emit({span.first, span.last, got}); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(span, got);
  }
};

struct AllTaken {
  std::uint64_t wanted = 0, got = 0;
  double first = 0, last = 0;

  void operator()(const Take::Taken& taken) {
    got += taken.chunks;
    if (taken.chunks == 0) return;
    first = first == 0 ? taken.first : std::min(first, taken.first);
    last = std::max(last, taken.last);
  }
  void finish() const {
    if (got != wanted) throw std::runtime_error("a piece is missing");
    std::printf("%.6f\n", last - first);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(got, first, last);
  }
};

int all_to_all_of(std::uint32_t left, std::uint32_t right, std::uint64_t megabytes) {
  const std::uint64_t chunks = megabytes * 1'000'000 / sizeof(Chunk) / left * left;
  Graph program = pipeline(source("read", Read{chunks, right}).replicas(left),
                           farm("take", right, Take{}).route([](const Chunk& c) { return c.to; }),
                           sink("all", AllTaken{chunks}));
  createGroup(program, "G0", {"all"});
  for (std::uint32_t i = 0; i < left + right; ++i) {
    const bool is_left = i < left;
    createGroup(program, "G" + std::to_string(i + 1), {is_left ? "read" : "take"})
        << brick(is_left ? "read" : "take", is_left ? i : i - left);
  }
  return run(program);
}

// ---- Fig. 10: a master, some workers beside it and more in other groups

struct Task {
  std::uint64_t number = 0;
  double made = 0;
  std::array<char, 112> rest{};
};

struct Finished {
  double made = 0;
  std::uint64_t worker = 0;
};

struct GiveOut {
  std::uint64_t tasks = 0, out = 0;
  double start_s = 0;

  std::optional<Task> operator()() {
    if (out == tasks) return std::nullopt;
    if (start_s == 0) start_s = seconds();
    return Task{.number = out++, .made = start_s};
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(out, start_s);
  }
};

/// Sleeps: what is measured is who gets the tasks, and a machine of few cores may have many
/// workers.
struct WorkOn {
  std::int64_t grain_us = 0;
  std::uint64_t worker = 0;

  void start(const Context& context) { worker = context.replica; }
  Finished operator()(const Task& task) const {
    std::this_thread::sleep_for(std::chrono::microseconds(grain_us));
    return {task.made, worker};
  }
};

struct Tally {
  std::uint64_t tasks = 0, workers_a_group = 1;
  Span span;
  std::vector<std::uint64_t> groups;

  void operator()(const Finished& done) {
    span.add(done.made);
    const std::uint64_t group = done.worker / workers_a_group;
    if (group >= groups.size()) groups.resize(group + 1);
    groups[group] += 1;
  }
  void finish() const {
    std::uint64_t all = 0;
    std::printf("%.6f", span.last - span.first);
    for (const std::uint64_t one : groups) {
      std::printf(" %llu", static_cast<unsigned long long>(one));
      all += one;
    }
    std::printf("\n");
    if (all != tasks) throw std::runtime_error("a task is missing");
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(span, groups);
  }
};

int grain_of(std::uint32_t groups, std::uint32_t workers, std::uint64_t tasks, std::int64_t us) {
  Graph program =
      pipeline(source("master", GiveOut{tasks}), farm("work", groups * workers, WorkOn{us}),
               sink("tally", Tally{tasks, workers}));
  for (std::uint32_t g = 0; g < groups; ++g) {
    auto group = g == 0 ? createGroup(program, "G0", {"master", "work", "tally"})
                        : createGroup(program, "G" + std::to_string(g), {"work"});
    if (g == 0)
      group << "master"
            << "tally";
    for (std::uint32_t w = 0; w < workers; ++w) group << brick("work", g * workers + w);
  }
  return run(program);
}

// ---- Fig. 11: sources and splitters in groups of their own, counters and sink in one

struct Line {
  double made = 0;
  bench::Line text{};
};

struct Tweet {
  std::uint64_t lines = 0, rate = 0, sent = 0;
  Clock::time_point begin{};

  std::optional<Line> operator()() {
    if (sent == lines) return std::nullopt;
    const auto& pool = bench::word_pool();
    if (sent == 0) begin = Clock::now();
    Line line{.made = seconds(), .text = pool[bench::splitmix(sent) % pool.size()]};
    sent += 1;
    // Of many sources each would be woken for each of its lines: so a few leave at a time.
    if (rate != 0 && sent % std::max<std::uint64_t>(rate / 1'000, 1) == 0)
      std::this_thread::sleep_until(begin + std::chrono::nanoseconds(1'000'000'000 * sent / rate));
    return line;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(sent);
  }
};

struct Word {
  double made = 0;
  std::string text;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(made, text);
  }
};

void split(const Line& line, Emit<Word>& emit) {
  const std::string_view text(line.text.data(), line.text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end != at) emit({line.made, std::string(text.substr(at, end - at))});
    at = end + 1;
  }
}

struct Counted {
  double made = 0;
  std::uint64_t count = 0;
};

struct Count {
  std::unordered_map<std::string, std::uint64_t> counts;
  Counted operator()(const Word& word) { return {word.made, ++counts[word.text]}; }
};

struct Statistics {
  Span span;
  std::uint64_t words = 0;

  void operator()(const Counted& counted) {
    span.add(counted.made);
    words += 1;
  }
  void finish() const {
    std::printf("%.6f %llu\n", span.last - span.first, static_cast<unsigned long long>(words));
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(span, words);
  }
};

int words_of(std::uint32_t sources, std::uint64_t rate, std::uint64_t lines) {
  Graph program = pipeline(source("source", Tweet{lines, rate}).replicas(sources),
                           farm("split", sources, split).one_to_one(),
                           farm("count", 4, Count{}).by_key([](const Word& w) { return w.text; }),
                           sink("print", Statistics{}));
  createGroup(program, "G0", {"count", "print"});
  for (std::uint32_t i = 0; i < sources; ++i) {
    createGroup(program, "G" + std::to_string(i + 1), {"source", "split"})
        << brick("source", i) << brick("split", i);
  }
  return run(program);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  const auto number = [&](int i) { return static_cast<std::uint64_t>(std::atoll(argv[i])); };
  const auto small = [&](int i) { return static_cast<std::uint32_t>(std::atoi(argv[i])); };
  if (mode == "alltoall" && argc == 5) return all_to_all_of(small(2), small(3), number(4));
  if (mode == "grain" && argc == 6) {
    return grain_of(small(2), small(3), number(4), std::atoll(argv[5]));
  }
  if (mode == "words" && argc == 5) return words_of(small(2), number(3), number(4));
  return 2;
}
