#include "bench/common/arguments.h"

#include <CLI/CLI.hpp>
#include <cstdint>

namespace piracema::bench {

namespace {

template <class Number>
void hold(CLI::Option& option, const Limits<Number>& limits) {
  const Limits<Number> any;
  if (limits.least == any.least && limits.most == any.most) return;
  option.check(CLI::Range(limits.least, limits.most));
}

}  // namespace

Arguments::Arguments(const std::string& about) : app_(std::make_unique<CLI::App>(about)) {
  app_->option_defaults()->always_capture_default();
}

Arguments::~Arguments() = default;

void Arguments::flag(const std::string& name, bool& to, const std::string& help) {
  app_->add_flag(name, to, help);
}

void Arguments::exclude(const std::string& name, const std::string& other) {
  app_->get_option(name)->excludes(app_->get_option(other));
}

template <class Number>
void Arguments::number(const std::string& names, Number& to, const std::string& help,
                       Limits<Number> limits) {
  hold(*app_->add_option(names, to, help), limits);
}

template <class Number>
void Arguments::numbers(const std::string& names, std::vector<Number>& to, const std::string& help,
                        Limits<Number> limits) {
  hold(*app_->add_option(names, to, help)->delimiter(','), limits);
}

void Arguments::text(const std::string& names, std::string& to, const std::string& help) {
  app_->add_option(names, to, help);
}

void Arguments::required_text(const std::string& names, std::string& to, const std::string& help) {
  app_->add_option(names, to, help)->required();
}

void Arguments::texts(const std::string& names, std::vector<std::string>& to,
                      const std::string& help) {
  app_->add_option(names, to, help)->delimiter(',');
}

void Arguments::words(const std::string& name, std::vector<std::string>& to,
                      const std::string& help) {
  app_->add_option(name, to, help);
}

template <class Value>
void Arguments::choice(const std::string& names, Value& to, const std::string& help,
                       const std::vector<Value>& of) {
  app_->add_option(names, to, help)->check(CLI::IsMember(of));
}

void Arguments::choices(const std::string& names, std::vector<std::string>& to,
                        const std::string& help, const std::vector<std::string>& of) {
  app_->add_option(names, to, help)->delimiter(',')->check(CLI::IsMember(of));
}

std::optional<int> Arguments::parse(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app_->exit(error) == 0 ? 0 : 2;
  }
  return std::nullopt;
}

using Name = const std::string&;
template void Arguments::number(Name, int&, Name, Limits<int>);
template void Arguments::number(Name, unsigned&, Name, Limits<unsigned>);
template void Arguments::number(Name, std::int64_t&, Name, Limits<std::int64_t>);
template void Arguments::number(Name, std::uint64_t&, Name, Limits<std::uint64_t>);
template void Arguments::number(Name, double&, Name, Limits<double>);
template void Arguments::numbers(Name, std::vector<int>&, Name, Limits<int>);
template void Arguments::numbers(Name, std::vector<unsigned>&, Name, Limits<unsigned>);
template void Arguments::numbers(Name, std::vector<std::uint64_t>&, Name, Limits<std::uint64_t>);
template void Arguments::numbers(Name, std::vector<double>&, Name, Limits<double>);
template void Arguments::choice(Name, std::uint64_t&, Name, const std::vector<std::uint64_t>&);
template void Arguments::choice(Name, std::string&, Name, const std::vector<std::string>&);

}  // namespace piracema::bench
