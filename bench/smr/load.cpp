// Fills a group of `piracema kv` with a state; when a line comes on standard input it asks of it as
// much as it gives, until SIGTERM. One JSON line when the state is there, then one each second with
// what was answered and the longest time without an answer. bench/smr/newcomer.py runs it.

#include <piracema/smr/client.h>
#include <piracema/smr/key_value.h>
#include <signal.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "base/parse.h"
#include "base/random.h"
#include "base/text.h"
#include "bench/common/arguments.h"

using namespace piracema;

namespace {

std::atomic<bool> stopped = false;

/// No more than so many operations under way at once.
class Window {
 public:
  explicit Window(std::size_t most) : most_(most) {}

  void enter() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_ < most_; });
    open_ += 1;
  }
  /// Any thread.
  void answered(const Result<Buffer>& result) {
    const std::lock_guard lock(mutex_);
    open_ -= 1;
    const Time time = now();
    gap_ = std::max(gap_, time - last_);
    if (result) last_ = time;
    (result ? answered_ : failed_) += 1;
    if (!result) why_ = result.error().message;
    changed_.notify_all();
  }
  bool wait_until_empty() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_ == 0; });
    return failed_ == 0;
  }
  std::string why() {
    const std::lock_guard lock(mutex_);
    return why_;
  }
  void begin_gaps() {
    const std::lock_guard lock(mutex_);
    last_ = now();
    gap_ = {};
  }
  /// Since the last call.
  void say(Time began) {
    const std::lock_guard lock(mutex_);
    const Time time = now();
    const Time gap = std::max(gap_, time - last_);
    std::printf("{\"at\": %.3f, \"answered\": %zu, \"failed\": %zu, \"gap_ms\": %.1f}\n",
                seconds(time - began), std::exchange(answered_, 0), std::exchange(failed_, 0),
                seconds(gap) * 1e3);
    std::fflush(stdout);
    gap_ = {};
  }
  static double seconds(Time time) { return std::chrono::duration<double>(time).count(); }

 private:
  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t open_ = 0, answered_ = 0, failed_ = 0;
  std::string why_;
  Time last_ = now(), gap_{};
};

std::string random_bytes(Random& random, std::size_t count) {
  std::string bytes(count, ' ');
  for (char& byte : bytes) byte = static_cast<char>(random.below(256));
  return bytes;
}

Buffer put(const std::string& key, const std::string& value) {
  return smr::kv::encode(smr::kv::Put{.key = key, .value = value});
}

int fail(const std::string& why) {
  std::fprintf(stderr, "bench_smr_load: %s\n", why.c_str());
  return 1;
}

// Each value once, none like another.
bool fill(smr::Client& client, Window& window, std::uint64_t bytes) {
  constexpr std::size_t value_bytes = 256 << 10;
  Random random(1);
  for (std::uint64_t done = 0, i = 0; done < bytes && !stopped; done += value_bytes, ++i) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(value_bytes, bytes - done));
    window.enter();
    client.invoke_ordered(put(concat("state/", i), random_bytes(random, size)),
                          [&window](Result<Buffer> result) { window.answered(result); });
  }
  return window.wait_until_empty();
}

void ask(smr::Client& client, Window& window, std::size_t value_bytes) {
  Random random(2);
  const std::string value = random_bytes(random, value_bytes);
  const Time began = now();
  Time say_at = began + std::chrono::seconds(1);
  window.begin_gaps();
  while (!stopped) {
    window.enter();
    client.invoke_ordered(put(concat("load/", random.below(1'000)), value),
                          [&window](Result<Buffer> result) { window.answered(result); });
    if (now() < say_at) continue;
    say_at += std::chrono::seconds(1);
    window.say(began);
  }
  window.wait_until_empty();
  window.say(began);
}

}  // namespace

int main(int argc, char** argv) {
  bench::Arguments arguments(
      "Fills a group of piracema kv with a state, then loads it until SIGTERM.");
  std::string config, key, state = "0";
  std::size_t outstanding = 64, value_bytes = 100;
  arguments.required_text("--config", config, "Configuration of the group");
  arguments.required_text("--key", key, "The key file of its client 1");
  arguments.text("--state", state, "Bytes to fill it with first: 100MB");
  arguments.number("--outstanding", outstanding, "Operations under way at once", {1, 1'000});
  arguments.number("--value-bytes", value_bytes, "Of each operation", {0, 1'000'000});
  if (const auto code = arguments.parse(argc, argv)) return *code;
  const auto bytes = parse_bytes(state);
  if (!bytes) return fail("--state: " + bytes.error().message);
  for (const int signal : {SIGTERM, SIGINT}) {
    struct sigaction action {};
    action.sa_handler = [](int) { stopped = true; };
    ::sigaction(signal, &action, nullptr);
  }
  const auto configuration = smr::read_configuration(config);
  if (!configuration) return fail(configuration.error().message);
  auto client = smr::Client::open(*configuration,
                                  {.id = 1, .key_file = key, .timeout = std::chrono::seconds(120)});
  if (!client) return fail(client.error().message);

  const Time began = now();
  Window filling(16), asking(outstanding);
  if (!fill(**client, filling, *bytes)) return fail("filling: " + filling.why());
  std::printf("{\"filled\": %llu, \"seconds\": %.3f}\n", static_cast<unsigned long long>(*bytes),
              Window::seconds(now() - began));
  std::fflush(stdout);
  while (!stopped && std::getchar() != '\n' && std::feof(stdin) == 0) continue;
  ask(**client, asking, value_bytes);
  return 0;
}
