#pragma once

#include <piracema/error.h>

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/common/arguments.h"
#include "bench/common/command.h"
#include "bench/common/machine.h"
#include "bench/common/statistics.h"

/// Compares ways to do the same, honestly: all in one go, in turns, every run counted.
namespace piracema::bench {

/// One of the ways.
struct Side {
  std::string name;
  /// Does the work once and measures it.
  std::function<Result<Sample>()> run;
  /// Before and after each run, not measured: clear away what the last one left; check what this
  /// one did. Either may be empty.
  std::function<Result<Done>()> prepare, check;
};

/// A side that is a command; another exit code than 0 is an error with its last words.
Side command_side(std::string name, std::vector<std::string> command);

/// A side that is a function of this process; its memory is not known.
Side function_side(std::string name, std::function<void()> function);

struct Settings {
  /// Of each side, after the warm-up.
  int runs = 5;
  /// Runs of each side that are made before and thrown away.
  int warmups = 1;
  /// One JSON object on standard output in place of the tables.
  bool json = false;
};

/// Adds --runs, --warmups and --json with their limits.
void add_options(Arguments& arguments, Settings& settings);

struct Comparison {
  std::string title;
  std::string name_a, name_b;
  /// In the order in which they were made: A, B, A, B, …
  std::vector<Sample> a, b;

  /// Time of A by the time of the B that came right after it: how many times as fast B was.
  Summary ratio() const;
  /// The best run of A by the median of B: 1 or more when B is as fast as A ever is.
  double against_best() const;
};

/// What was measured of one side.
struct Track {
  std::string name;
  std::vector<Sample> samples;
};

/// Runs all in turns: A, B, C, A, B, C, …, so that a machine which changes its speed does so to
/// each of them. Errc::usage when `settings` make no sense or this build is not fit to be measured,
/// else the first error of a side, with its name.
Result<std::vector<Track>> rotate(const std::vector<Side>& sides, const Settings& settings);

/// Two tracks of one rotation.
Comparison compare(std::string title, const Track& a, const Track& b);

/// A rotation of two.
Result<Comparison> compare(std::string title, const Side& a, const Side& b,
                           const Settings& settings);

/// A table, and what it says, for people.
std::string to_text(const Comparison&);

/// All that was measured.
nlohmann::json to_json(const Machine&, const std::vector<Comparison>&);

}  // namespace piracema::bench
