#pragma once

#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/testing.h"
#include "cluster/job.h"

/// Jobs of apps/stream.cpp, and what they should have written.
namespace piracema::testing {

struct Stream {
  testing::ScratchDirectory scratch;
  std::string out = path("out");
  std::string snapshots = path("snapshots");

  std::string enough = path("enough");

  std::string path(const std::string& name) const { return scratch.path() + "/" + name; }

  /// Options of a source that sends an item each `pause_us` until `let_end` is called: what a test
  /// does to the job comes before its end on any machine.
  std::vector<std::string> endless(int pause_us = 300) const {
    return {"until=" + enough, "pause_us=" + std::to_string(pause_us)};
  }
  void let_end() const { std::ofstream(enough) << ""; }

  /// The program with these of its options.
  std::vector<std::string> program(std::vector<std::string> options) const {
    options.insert(options.begin(), {STREAM_APP, out});
    return options;
  }

  /// As four processes with snapshots, often.
  std::vector<std::string> run(const std::vector<std::string>& program_options,
                               const std::vector<std::string>& more = {}) const {
    std::vector<std::string> options = {"-n", "4", "--snapshots", snapshots, "--every", "100ms"};
    options.insert(options.end(), more.begin(), more.end());
    return piracema_run(options, program(program_options));
  }

  /// What a run of so many items writes in which nothing fails.
  std::string expected(std::size_t items) const {
    const std::string reference = path("expected-" + std::to_string(items));
    if (!exists(reference)) {
      Job job({STREAM_APP, reference, "items=" + std::to_string(items)});
      REQUIRE(job.wait() == 0);
    }
    return contents(reference);
  }

  /// Whether the output is that of a run in which nothing fails; of how many items follows from
  /// `items`, or from its length.
  bool is_right(std::size_t items = 0) const {
    const std::string found = contents(out);
    const std::string wanted = expected(items != 0 ? items : lines_of(found).size());
    return !found.empty() && found == wanted;
  }
};

inline bool is_in(const std::string& part, const std::string& text) {
  return text.find(part) != std::string::npos;
}

}  // namespace piracema::testing
