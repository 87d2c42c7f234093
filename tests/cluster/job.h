#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "processes.h"

/// Real jobs: `piracema run` or a program by itself, started, watched and hit by a test.
namespace piracema::testing {

using Event = nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// A failure of the test, never the expected way: nothing that is waited for takes so long.
constexpr seconds patience{200};

/// `piracema run --json OPTIONS…`; what follows is the program and its arguments.
std::vector<std::string> piracema_run(std::vector<std::string> options,
                                      const std::vector<std::string>& program);

/// A process that was started, and all that descend from it. Ended with this object.
class Job {
 public:
  /// `environment` is put over the test's own, from which no PIRACEMA_… is taken.
  explicit Job(std::vector<std::string> command, std::vector<std::string> environment = {});
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  void signal(int number) const;
  /// Those that live now.
  std::vector<Worker> workers() const { return workers_of(mark_); }
  /// That of a slot; the test fails if it has none.
  Worker worker(int slot) const;
  std::vector<pid_t> processes() const { return processes_of(mark_); }

  /// The next line of standard output; nothing if none comes within the time, or no more.
  std::optional<std::string> next_line(milliseconds within = patience);
  /// The same as JSON.
  std::optional<Event> next_event(milliseconds within = patience);
  /// Goes through the events to the first one of this name for which `right` holds; the test
  /// fails if the job ends before.
  Event wait_for(
      const std::string& name,
      const std::function<bool(const Event&)>& right = [](const Event&) { return true; });

  /// Goes through the events until something else is so; the test fails if the job ends before.
  void go_on_until(const std::function<bool()>& so);

  /// Waits until it has ended: its exit code, or the negative number of the signal. All of its
  /// output is read by then, and no sanitizer has had anything to say.
  int wait();

  // ---- what was read so far
  std::vector<Event> events(const std::string& name) const;
  /// The summary at the end.
  Event summary() const;
  /// What all of them wrote to standard error.
  std::string errors() const;
  const std::string& output() const { return output_; }

 private:
  enum class Read { some, nothing, end };
  Read read_some(milliseconds within);

  std::string mark_;
  pid_t pid_ = 0;
  Fd handle_;
  Fd out_;
  Fd errors_;
  std::string output_;
  std::size_t lines_end_ = 0;
  std::vector<Event> events_;
  std::optional<int> status_;
};

/// Whether a file is there, and what is in it.
bool exists(const std::string& path);
std::string contents(const std::string& path);
std::vector<std::string> lines_of(const std::string& text);

/// The number that a variable of the environment holds.
std::uint64_t number_from(const char* variable, std::uint64_t otherwise);

/// Programs are many times slower, and larger.
constexpr bool sanitized =
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    true;
#else
    false;
#endif

}  // namespace piracema::testing
