// Finds the files that say "Hello": the program of figure 2 in paper 004, in both of its forms.
//
//     06_bricks 1 DIRECTORY...     a chain of three nodes
//     06_bricks 2 DIRECTORY...     two readers, each with half of the directories, and three
//     workers

#include <piracema/piracema.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace piracema;

using Names = std::vector<std::string>;

/// Gives the names of all files in some directories, in their order, so that it can go on from
/// any of them after a failure.
struct Reader {
  Names directories;
  Names files{};
  std::uint64_t next = 0;

  void start(const Context&) {
    for (const std::string& directory : directories) {
      for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        if (entry.is_regular_file()) files.push_back(entry.path());
      }
    }
    std::sort(files.begin(), files.end());
  }
  std::optional<std::string> operator()() {
    return next < files.size() ? std::optional(files[next++]) : std::nullopt;
  }
  std::uint64_t position() const { return next; }
  void seek(std::uint64_t position) { next = position; }
};

/// Lets the names of those files pass that have the word.
std::optional<std::string> search(const std::string& file) {
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  return text.find("Hello") != std::string::npos ? std::optional(file) : std::nullopt;
}

/// Keeps what was found, and prints it when all has come.
struct Writer {
  Names found{};

  void operator()(const std::string& file) { found.push_back(file); }
  void finish() {
    std::sort(found.begin(), found.end());
    for (const std::string& file : found) std::printf("%s\n", file.c_str());
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(found);
  }
};

int main(int argc, char** argv) {
  const std::string version = argc > 2 ? argv[1] : "";
  if (version != "1" && version != "2") {
    std::fprintf(stderr, "usage: %s 1|2 DIRECTORY...\n", argv[0]);
    return 2;
  }
  const Names all(argv + 2, argv + argc);
  if (version == "1") {
    return run(
        pipeline(source("reader", Reader{all}), node("worker", search), sink("writer", Writer{})));
  }
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  return run(pipeline(all_to_all(set(source("reader1", Reader{Names(all.begin(), middle)}),
                                     source("reader2", Reader{Names(middle, all.end())})),
                                 farm("worker", 3, search)),
                      sink("writer", Writer{})));
}
