#include "bench/common/program.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <sstream>

#include "base/text.h"

namespace piracema::bench {

namespace {

Result<Sample> run(const std::vector<std::string>& command, std::string& output) {
  std::string last_words;
  auto sample = run_command(command, {.output = &output, .last_words = &last_words});
  if (!sample) return sample.error();
  if (sample->exit_code != 0) {
    return Error{Errc::failed, concat("'", command[0], "' ended with exit code ", sample->exit_code,
                                      "; it said:\n", last_words)};
  }
  return sample;
}

}  // namespace

std::string built(const std::string& path) {
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  return (self.parent_path().parent_path() / path).string();
}

std::vector<std::string> under_piracema(const std::vector<std::string>& options,
                                        const std::vector<std::string>& command) {
  std::vector<std::string> all{built("tools/piracema"), "run", "--quiet"};
  all.insert(all.end(), options.begin(), options.end());
  all.insert(all.end(), command.begin(), command.end());
  return all;
}

Result<Sample> run_timed(const std::vector<std::string>& command) {
  std::string output;
  auto sample = run(command, output);
  if (!sample) return sample.error();
  std::istringstream words(output);
  if (!(words >> sample->wall_s)) {
    return Error{Errc::failed, concat("want seconds, found '", output, "'")};
  }
  return sample;
}

Result<Sample> run_marked(const std::vector<std::string>& command, std::size_t items) {
  std::string output;
  auto sample = run(command, output);
  if (!sample) return sample.error();
  std::istringstream lines(output);
  double start = std::numeric_limits<double>::max(), end = 0;
  std::size_t found = 0;
  double value = 0;
  for (std::string word; lines >> word >> value;) {
    if (word == "start") start = std::min(start, value);
    if (word == "end") end = std::max(end, value);
    if (word == "items") found += static_cast<std::size_t>(value);
  }
  if (found != items || end <= start) {
    return Error{Errc::failed, concat("want ", items, " items, found ", found)};
  }
  sample->wall_s = end - start;
  return sample;
}

}  // namespace piracema::bench
