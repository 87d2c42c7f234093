#pragma once

#include <string>
#include <vector>

#include "bench/common/harness.h"

namespace piracema::bench {

/// What one run does, so that a table can say how fast.
struct Work {
  std::size_t items = 0;
  /// "records": items are told in millions a second.
  std::string unit = "items";
  /// Of one item; 0 where they do not matter.
  std::size_t bytes = 0;
};

/// The rest of a benchmark's main: compares, prints what was found, and ends with the first error.
class Report {
 public:
  /// `settings` outlives it.
  Report(std::string program, const Settings& settings)
      : program_(std::move(program)), settings_(settings) {}

  /// Compares the two in turns and prints the table, unless an earlier one has failed.
  void compare(const std::string& title, const Side& a, const Side& b, const Work& work);

  /// Prints all as JSON, if that is wanted. What main returns: 0, 1 for an error, 2 for wrong
  /// usage.
  int finish() const;

 private:
  const std::string program_;
  const Settings& settings_;
  std::vector<Comparison> comparisons_;
  int exit_code_ = 0;
};

}  // namespace piracema::bench
