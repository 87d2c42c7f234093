// A word count as paper 004 has it in section 4: readers, workers that split lines (L), workers
// that count the words of their share (R), a writer. `004_cuts_app CUT` cuts its all-to-all:
//
//     none | vertical | horizontal | inter-set | oblique
//
// Business code is the same for all cuts, and so is what it prints.
#include <piracema/piracema.h>

#include <cereal/types/string.hpp>
#include <cereal/types/utility.hpp>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <utility>

using namespace piracema;

namespace {

using Count = std::pair<std::string, std::int64_t>;

struct Lines {
  int next = 0;
  std::optional<std::string> operator()() {
    if (next == 400) return std::nullopt;
    next += 1;
    std::string line;
    for (int i = 0; i <= next % 7; ++i) line += "word" + std::to_string(next * i % 31) + " ";
    return line;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(next);
  }
};

void split(const std::string& line, Emit<std::string>& words) {
  std::istringstream in(line);
  for (std::string word; in >> word;) words(word);
}

std::string itself(const std::string& word) { return word; }

struct Counter {
  std::map<std::string, std::int64_t> counts{};
  void operator()(const std::string& word, Emit<Count>&) { counts[word] += 1; }
  void finish(Emit<Count>& out) const {
    for (const auto& [word, count] : counts) out(Count(word, count));
  }
};

struct Writer {
  std::map<std::string, std::int64_t> counts{};
  void operator()(const Count& count) { counts[count.first] += count.second; }
  void finish() const {
    for (const auto& [word, count] : counts) {
      std::printf("%s %lld\n", word.c_str(), static_cast<long long>(count));
    }
  }
};

void cut(Graph& program, const std::string& how) {
  if (how == "vertical") {  // Between the two sets.
    createGroup(program, "G1", {"Sc", "L"});
    createGroup(program, "G2", {"R", "Sk"});
  } else if (how == "horizontal") {  // Each set for itself.
    createGroup(program, "G1", {"Sc"});
    createGroup(program, "G2", {"L"}) << "L/0";
    createGroup(program, "G3", {"L"}) << "L/1";
    createGroup(program, "G4", {"R"}) << "R/0"
                                      << "R/1";
    createGroup(program, "G5", {"R"}) << "R/2"
                                      << "R/3";
    createGroup(program, "G6", {"Sk"});
  } else if (how == "inter-set") {  // Through both sets.
    createGroup(program, "G1", {"Sc"});
    createGroup(program, "G2", {"L", "R"}) << "L/0"
                                           << "R/0"
                                           << "R/1";
    createGroup(program, "G3", {"L", "R"}) << "L/1"
                                           << "R/2"
                                           << "R/3";
    createGroup(program, "G4", {"Sk"});
  } else if (how == "oblique") {
    createGroup(program, "G1", {"Sc"});
    createGroup(program, "G2", {"L", "R"}) << "L/0"
                                           << "L/1"
                                           << "R/0";
    createGroup(program, "G3", {"R"}) << "R/1"
                                      << "R/2"
                                      << "R/3";
    createGroup(program, "G4", {"Sk"});
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  Graph program = pipeline(source("Sc", Lines{}),
                           all_to_all(farm("L", 2, split), farm("R", 4, Counter{}).by_key(itself)),
                           sink("Sk", Writer{}));
  cut(program, argv[1]);
  return run(program);
}
