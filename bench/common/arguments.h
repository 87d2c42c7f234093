#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace piracema::bench {

/// Both are allowed. Without a word, any number is.
template <class Number>
struct Limits {
  Number least = std::numeric_limits<Number>::lowest();
  Number most = std::numeric_limits<Number>::max();
};

/// The options of a benchmark. Each variable that one is written to outlives this, and holds what
/// is taken where nothing is said. Numbers are int, unsigned, std::int64_t, std::uint64_t
/// (std::size_t) or double. What takes several has them behind one another, or by commas.
class Arguments {
 public:
  /// `about`: what the benchmark does, for --help.
  explicit Arguments(const std::string& about);
  ~Arguments();

  void flag(const std::string& name, bool& to, const std::string& help);
  /// They cannot both be given.
  void exclude(const std::string& name, const std::string& other);

  template <class Number>
  void number(const std::string& names, Number& to, const std::string& help,
              Limits<Number> limits = {});
  template <class Number>
  void numbers(const std::string& names, std::vector<Number>& to, const std::string& help,
               Limits<Number> limits = {});

  void text(const std::string& names, std::string& to, const std::string& help);
  void required_text(const std::string& names, std::string& to, const std::string& help);
  void texts(const std::string& names, std::vector<std::string>& to, const std::string& help);
  /// All words that belong to no option.
  void words(const std::string& name, std::vector<std::string>& to, const std::string& help);

  /// One of a few: texts, or numbers of 64 bits without a sign.
  template <class Value>
  void choice(const std::string& names, Value& to, const std::string& help,
              const std::vector<Value>& of);
  /// Several of a few.
  void choices(const std::string& names, std::vector<std::string>& to, const std::string& help,
               const std::vector<std::string>& of);

  /// Reads them. What main has to return at once, if anything: 0 when help was wanted, which is
  /// printed; 2 for words that are wrong, which are named on standard error.
  std::optional<int> parse(int argc, char** argv);

 private:
  /// CLI11 is slow to compile, so its headers are read in one file alone.
  std::unique_ptr<CLI::App> app_;
};

}  // namespace piracema::bench
