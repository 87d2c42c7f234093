#include "ckpt/image/compression.h"

#include <filesystem>
#include <vector>

#include "base/text.h"
#include "os/helper.h"

namespace piracema::ckpt {

namespace {

constexpr std::string_view raw_ending = ".img", packed_ending = ".img.zst";

std::vector<std::string> pages_in(const std::string& parts, std::string_view ending) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(parts, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("pages-") && name.ends_with(ending)) found.push_back(entry.path());
  }
  return found;
}

Result<Done> run_zstd(std::vector<std::string> words, const std::vector<std::string>& files) {
  if (files.empty()) return Done{};
  words.insert(words.begin(), {"zstd", "-q", "-f"});
  words.insert(words.end(), files.begin(), files.end());
  const auto end = run_helper(words);
  if (!end) return end.error();
  if (end->status != 0) return Error{Errc::io, concat("zstd: ", last_line(end->output))};
  return Done{};
}

}  // namespace

Result<Done> find_zstd() {
  const auto end = run_helper({"zstd", "--version"});
  if (end && end->status == 0) return Done{};
  return Error{Errc::config, "--compress wants the program zstd (apt-get install zstd)"};
}

// Its fastest level, on all cores: the stores that make it worth while are slower than that.
Result<Done> compress_pages(const std::string& parts) {
  return run_zstd({"-1", "-T0", "--rm"}, pages_in(parts, raw_ending));
}

Result<Done> expand_pages(const std::string& parts) {
  return run_zstd({"-d"}, pages_in(parts, packed_ending));
}

void drop_expanded_pages(const std::string& parts) {
  for (std::string path : pages_in(parts, packed_ending)) {
    path.resize(path.size() - (packed_ending.size() - raw_ending.size()));
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
}

}  // namespace piracema::ckpt
