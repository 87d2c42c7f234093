#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstring>

namespace {

// What ctest takes for a test that was skipped: SKIP_RETURN_CODE in cmake/piracema_part.cmake.
constexpr int skipped_code = 77;
bool skipped = false;
bool nothing_run = false;

/// Hears whether a case says MESSAGE("SKIPPED: why"), and whether any case was chosen.
struct Listener final : doctest::IReporter {
  explicit Listener(const doctest::ContextOptions&) {}
  void log_message(const doctest::MessageData& message) override {
    skipped = skipped || std::strncmp(message.m_string.c_str(), "SKIPPED: ", 9) == 0;
  }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats& stats) override {
    nothing_run = stats.numTestCasesPassingFilters == 0;
  }
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

DOCTEST_REGISTER_LISTENER("skips", 1, Listener);

}  // namespace

// A test of which a part could not run here is skipped for ctest, unless another part has failed.
int main(int argc, char** argv) {
  const int code = doctest::Context(argc, argv).run();
  if (nothing_run) {
    std::fputs("no test case has that name, or is in that file\n", stderr);
    return 1;
  }
  return code == 0 && skipped ? skipped_code : code;
}
