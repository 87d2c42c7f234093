#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>

/// What a test tells its program: OUT NAME=VALUE…
class Options {
 public:
  Options(int argc, char** argv) : out_(argc > 1 ? argv[1] : "") {
    for (int i = 2; i < argc; ++i) {
      const std::string argument = argv[i];
      const std::size_t equals = argument.find('=');
      values_[argument.substr(0, equals)] =
          equals == std::string::npos ? "1" : argument.substr(equals + 1);
    }
  }

  const std::string& out() const { return out_; }
  std::string text(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? "" : found->second;
  }
  std::int64_t number(const std::string& name, std::int64_t otherwise) const {
    const auto found = values_.find(name);
    return found == values_.end() ? otherwise : std::atoll(found->second.c_str());
  }
  bool has(const std::string& name) const { return values_.contains(name); }

 private:
  std::string out_;
  std::map<std::string, std::string> values_;
};
