// Word count (W): a source gives lines of 100 characters, a splitter cuts them into words, a
// counter counts by word and emits each count, a sink drops them. Prints when the first line was
// made, when the last word was counted, and how many words.
//
//     word_count_app plain|fused|threads|keyed LINES
//
// `plain` is the same work in one loop without the library: what memory and arithmetic allow.
// `fused` is one thread, `threads` two: source and splitter, counter and sink. `keyed` has two of
// each of these, which share the words.
#include <piracema/piracema.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bench/common/marks.h"
#include "bench/common/word_pool.h"

/// Not copied out of the batch that it came in: a slice of it, as long as the call lasts.
struct Word {
  std::string_view text;
};

template <>
struct piracema::Codec<Word> {
  static constexpr std::size_t fixed_bytes = 0;
  static void encode(const Word& word, Buffer& out) {
    out.append(word.text.data(), word.text.size());
  }
  static Word decode(Bytes in) { return {as_text(in)}; }
};

using namespace piracema;
using bench::Line;

namespace {

struct Count {
  std::string_view word;
  std::uint64_t count = 0;
};

struct Make {
  std::uint64_t lines = 0, next = 0, step = 1;

  void start(const Context& context) {
    bench::word_pool();
    step = context.replicas;
    if (next == 0) next = context.replica;
    if (context.replica == 0) bench::mark_start();
  }
  std::optional<Line> operator()() {
    if (next >= lines) return std::nullopt;
    const std::uint64_t i = next;
    next += step;
    return bench::word_pool()[bench::splitmix(i) % bench::word_pool().size()];
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(next);
  }
};

template <class Take>
void split_line(const Line& line, const Take& take) {
  const char* const end = line.data() + line.size();
  for (const char* at = line.data(); at < end;) {
    const char* word = at;
    while (at < end && *at != ' ') ++at;
    if (at != word) take(Word{{word, static_cast<std::size_t>(at - word)}});
    ++at;
  }
}

void split(const Line& line, Emit<Word>& emit) {
  split_line(line, [&](const Word& word) { emit(word); });
}

struct Hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};

struct Counter {
  std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>> counts;

  Count operator()(const Word& word) {
    auto found = counts.find(word.text);
    if (found == counts.end()) found = counts.emplace(word.text, 0).first;
    return {found->first, ++found->second};
  }
  template <class Archive>
  void save(Archive& archive) const {
    archive(counts.size());
    for (const auto& [word, count] : counts) archive(word, count);
  }
  template <class Archive>
  void load(Archive& archive) {
    std::size_t size = 0;
    archive(size);
    for (std::size_t i = 0; i < size; ++i) {
      std::string word;
      archive(word);
      archive(counts[word]);
    }
  }
};

struct Drop {
  std::uint64_t items = 0;

  void operator()(const Count&) { items += 1; }
  void finish() const { bench::mark_end(items); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(items);
  }
};

int plain(std::uint64_t lines) {
  Make make{lines};
  make.start({.replicas = 1});
  Counter counter;
  Drop drop;
  while (const auto line = make()) {
    split_line(*line, [&](const Word& word) { drop(counter(word)); });
  }
  drop.finish();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string_view mode = argv[1];
  const auto lines = static_cast<std::uint64_t>(std::atoll(argv[2]));
  if (mode == "words") {
    std::uint64_t words = 0;
    for (std::uint64_t i = 0; i < lines; ++i) {
      const Line& line = bench::word_pool()[bench::splitmix(i) % bench::word_pool().size()];
      split_line(line, [&](const Word&) { words += 1; });
    }
    std::printf("%llu\n", static_cast<unsigned long long>(words));
    return 0;
  }
  if (mode == "plain") return plain(lines);
  const auto key = [](const Word& word) { return word.text; };
  if (mode == "fused") {
    return run(combine(source("make", Make{lines}), node("split", split), node("count", Counter{}),
                       sink("drop", Drop{})));
  }
  if (mode == "threads") {
    return run(pipeline(combine(source("make", Make{lines}), node("split", split)),
                        combine(node("count", Counter{}), sink("drop", Drop{}))));
  }
  if (mode == "keyed") {
    return run(pipeline(
        combine(source("make", Make{lines}).replicas(2), farm("split", 2, split)),
        combine(farm("count", 2, Counter{}).by_key(key), sink("drop", Drop{}).replicas(2))));
  }
  return 2;
}
