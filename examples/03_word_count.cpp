// Counts the words of a file: lines are cut by three replicas, and equal words meet in the same
// one of two, so that each can count its own.
//
//     03_word_count FILE

#include <piracema/piracema.h>

#include <cereal/types/unordered_map.hpp>
#include <cstdio>
#include <string>
#include <unordered_map>

using namespace piracema;

struct Count {
  std::string word;
  std::uint64_t times = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(word, times);
  }
};

// Any number of results for an item: an Emit takes them.
void split(const std::string& line, Emit<std::string>& emit) {
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    if (end > begin) emit(line.substr(begin, end - begin));
    begin = end + 1;
  }
}

struct Counter {
  std::unordered_map<std::string, std::uint64_t> counts;

  void operator()(const std::string& word, Emit<Count>&) { counts[word] += 1; }
  void finish(Emit<Count>& emit) const {
    for (const auto& [word, times] : counts) emit({word, times});
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(counts);
  }
};

void print(const Count& count) {
  std::printf("%8llu %s\n", static_cast<unsigned long long>(count.times), count.word.c_str());
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FILE\n", argv[0]);
    return 2;
  }
  return run(pipeline(source("lines", FileLines{argv[1]}), farm("split", 3, split),
                      farm("count", 2, Counter{}).by_key([](const std::string& word) {
                        return word;
                      }),
                      sink("print", print)));
}
