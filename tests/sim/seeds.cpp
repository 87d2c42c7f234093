#include "sim/seeds.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <iostream>
#include <optional>

namespace piracema::sim {

namespace {

// The seed whose run this is; doctest tells of failures without an argument of ours.
std::optional<std::uint64_t> current;

std::optional<std::uint64_t> from_environment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  char* end = nullptr;
  const std::uint64_t value = std::strtoull(text, &end, 10);
  if (*end != '\0') {
    std::cerr << name << ": want a number, found '" << text << "'\n";
    std::exit(2);
  }
  return value;
}

/// Says once a seed that it failed and how to see it again; also when the program crashes.
class SeedListener : public doctest::IReporter {
 public:
  explicit SeedListener(const doctest::ContextOptions&) {}
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override { say(); }
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData& assertion) override {
    if (assertion.m_failed) say();
  }
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

 private:
  void say() {
    if (!current || said_ == current) return;
    said_ = current;
    std::cerr << "seed " << *current << " failed; PIRACEMA_SEED=" << *current
              << " replays it with its trace\n";
  }

  std::optional<std::uint64_t> said_;
};
REGISTER_LISTENER("seeds", 1, SeedListener);

}  // namespace

std::uint64_t Seeds::Iterator::operator*() const {
  current = seed_;
  return seed_;
}

Seeds::~Seeds() { current.reset(); }

Seeds seeds(std::uint64_t count) {
  if (const auto one = from_environment("PIRACEMA_SEED")) return {*one, *one + 1};
  return {1, from_environment("PIRACEMA_SEEDS").value_or(count) + 1};
}

bool is_exercised(std::uint64_t times, std::uint64_t wanted, std::uint64_t count) {
  if (tracing()) return true;
  return times >= wanted * from_environment("PIRACEMA_SEEDS").value_or(count) / count;
}

}  // namespace piracema::sim
