// A source and a sink of one's own: counts the lines of every file in a directory, and publishes
// the counts in files that appear whole, one for each snapshot.
//
//     05_own_ends IN_DIRECTORY OUT_DIRECTORY

#include <piracema/piracema.h>

#include <algorithm>
#include <cereal/types/map.hpp>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace piracema;
namespace fs = std::filesystem;

// The names of the files in a directory, in their order. Its position is the last name that it
// gave: that means the same on a later day, even if files have come or gone since.
class FileNames {
 public:
  explicit FileNames(std::string directory) : directory_(std::move(directory)) {}

  std::string position() const { return last_; }
  void seek(const std::string& position) { last_ = position; }

  void start(const Context&) {
    for (const auto& entry : fs::directory_iterator(directory_)) {
      if (entry.is_regular_file()) names_.push_back(entry.path());
    }
    std::sort(names_.begin(), names_.end());
    const auto next = std::upper_bound(names_.begin(), names_.end(), last_);
    next_ = static_cast<std::size_t>(next - names_.begin());
  }

  std::optional<std::string> operator()() {
    if (next_ == names_.size()) return std::nullopt;
    last_ = names_[next_++];
    return last_;
  }

  double progress() const {
    if (names_.empty()) return 1;
    return static_cast<double>(next_) / static_cast<double>(names_.size());
  }

 private:
  std::string directory_, last_;
  std::vector<std::string> names_;
  std::size_t next_ = 0;
};

std::string count_lines(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open '" + name + "'");
  const auto lines = std::count(std::istreambuf_iterator<char>(file), {}, '\n');
  return std::to_string(lines) + " " + name;
}

// Results become visible when their snapshot can no longer be lost, and never twice.
class Publish {
 public:
  explicit Publish(std::string directory) : directory_(std::move(directory)) {}

  void operator()(const std::string& line) { open_ += line + '\n'; }

  // What has come up to here belongs to this snapshot, and is saved in it.
  void prepare(std::uint64_t snapshot) { prepared_[snapshot] = std::exchange(open_, {}); }

  // A snapshot that failed has no commit of its own; its results go with the next one. Without
  // snapshots there is one commit at the end, of 0, that nobody prepares.
  void commit(std::uint64_t snapshot) {
    if (snapshot == 0) prepare(0);
    while (!prepared_.empty() && prepared_.begin()->first <= snapshot) {
      const auto& [number, text] = *prepared_.begin();
      if (!text.empty()) write(number, text);
      prepared_.erase(prepared_.begin());
    }
  }

  // Perhaps the commit of this snapshot was never made, perhaps one of a later snapshot was.
  void restored(std::uint64_t snapshot) {
    for (const auto& entry : fs::directory_iterator(directory_)) {
      if (std::stoull(entry.path().stem()) > snapshot) fs::remove(entry);
    }
    commit(snapshot);
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(prepared_);
  }

 private:
  void write(std::uint64_t number, const std::string& text) const {
    const std::string whole = directory_ + "/" + std::to_string(number) + ".txt";
    std::ofstream file(whole + ".new", std::ios::binary);
    file << text;
    file.close();
    if (!file) throw std::runtime_error("cannot write '" + whole + ".new'");
    fs::rename(whole + ".new", whole);
  }

  std::string directory_, open_;
  std::map<std::uint64_t, std::string> prepared_;
};

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s IN_DIRECTORY OUT_DIRECTORY\n", argv[0]);
    return 2;
  }
  return run(pipeline(source("names", FileNames{argv[1]}), farm("count", 4, count_lines),
                      sink("publish", Publish{argv[2]})));
}
