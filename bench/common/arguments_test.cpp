#include "bench/common/arguments.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

using piracema::bench::Arguments;

namespace {

/// Some of each kind.
struct Options {
  Options() {
    arguments.flag("--json", json, "one object");
    arguments.flag("--brief", brief, "one line");
    arguments.exclude("--brief", "--json");
    arguments.number("--seconds", seconds, "of a run", {0.5, 60.0});
    arguments.number("--seed", seed, "any");
    arguments.numbers("--sizes", sizes, "of the state", {1, 100});
    arguments.choice("--transport", transport, "between processes", {"tcp", "shm"});
    arguments.choices("--apps", apps, "which", {"trivial", "primes"});
    arguments.texts("--replicas", replicas, "to kill");
    arguments.words("COMMAND", command, "another program");
  }
  std::optional<int> parse(std::vector<std::string> words) {
    words.insert(words.begin(), "bench_test");
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    return arguments.parse(static_cast<int>(pointers.size()), pointers.data());
  }

  bool json = false, brief = false;
  double seconds = 2;
  std::uint64_t seed = 1;
  std::vector<int> sizes{10};
  std::string transport = "tcp";
  std::vector<std::string> apps{"trivial"}, replicas, command;
  Arguments arguments{"Measures nothing."};
};

}  // namespace

TEST_CASE("what is not said stays as it is") {
  Options options;
  CHECK(!options.parse({}));
  CHECK(options.seconds == 2);
  CHECK(options.sizes == std::vector<int>{10});
  CHECK(options.transport == "tcp");
  CHECK(options.command.empty());
}

TEST_CASE("values are taken, and several by commas or behind one another") {
  Options options;
  CHECK(!options.parse({"--json", "--seconds", "0.5", "--seed", "18446744073709551615", "--sizes",
                        "1,2", "100", "--transport", "shm", "--apps", "primes,trivial",
                        "--replicas", "work.0,work.1"}));
  CHECK(options.json);
  CHECK(options.seconds == 0.5);
  CHECK(options.seed == 18'446'744'073'709'551'615U);
  CHECK(options.sizes == std::vector<int>{1, 2, 100});
  CHECK(options.transport == "shm");
  CHECK(options.apps == std::vector<std::string>{"primes", "trivial"});
  CHECK(options.replicas == std::vector<std::string>{"work.0", "work.1"});
}

TEST_CASE("words of a command keep their commas") {
  Options options;
  CHECK(!options.parse({"program", "a,b"}));
  CHECK(options.command == std::vector<std::string>{"program", "a,b"});
}

TEST_CASE("words that are wrong end the program with 2, and help with 0") {
  const std::vector<std::vector<std::string>> wrong{
      {"--seconds", "0.4"}, {"--seconds", "soon"},  {"--sizes", "1,101"},  {"--seed", "soon"},
      {"--apps", "chess"},  {"--transport", "mpi"}, {"--json", "--brief"}, {"--unknown"}};
  for (const auto& words : wrong) {
    CAPTURE(words.front());
    CHECK(Options().parse(words) == 2);
  }
  CHECK(Options().parse({"--help"}) == 0);
}
