#pragma once

#include <CLI/App.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tools/top/http_client.h"

namespace piracema::tools {

/// Something that a job which runs is asked for, over HTTP, and what comes of it: asks, waits until
/// it is done, and says so. How it stands is in the job's own JSON (/api/v1/job).
class JobRequest {
 public:
  struct Kind {
    /// What is posted to.
    const char* path;
    /// Names in the job's JSON: how the newest one stands, and how many were begun.
    const char* newest;
    const char* count;
    /// Of a job that has no such thing; and where the answer is that nothing has to be done.
    const char* not_there;
    const char* nothing_to_do = "";
  };
  explicit JobRequest(const Kind& kind) : kind_(kind) {}

  static constexpr int not_done = 1, usage = 2, refused = 3, try_again = 75;

  /// ADDRESS, --http-token, --within and --json.
  void add_options(CLI::App& command);

  /// What is said of one that is over: a line for people, its exit code, and for --json what else
  /// there is to say.
  struct Outcome {
    std::string text;
    int code = 0;
    nlohmann::ordered_json more = nlohmann::ordered_json::object();
  };
  /// Of the newest one's JSON, whose `state` is not "under way".
  using Tell = Outcome (*)(const nlohmann::json& newest);

  /// `arguments` as in an address, with the '?'. The exit code: 2 for an address that is none, 3
  /// if it cannot be, or there is no answer, 75 if it may be asked again, else that of the outcome.
  int run(const std::string& arguments, Tell tell) const;

  int say(const std::string& state, const Outcome& outcome) const;

 private:
  Result<nlohmann::json> read_job(const JobAddress& address) const;
  std::optional<int> ask(const JobAddress& address, const std::string& arguments) const;
  int wait(const JobAddress& address, std::uint64_t before, Tell tell) const;
  std::uint64_t begun(const nlohmann::json& job) const;

  const Kind kind_;
  std::string address_, token_file_;
  std::chrono::milliseconds within_{60'000};
  bool json_ = false;
};

/// Of an object's member; empty if there is none, or it is no text.
std::string text_in(const nlohmann::json& object, const char* name);
/// As seconds; 0 if there is none.
double seconds_in(const nlohmann::json& object, const char* name);

}  // namespace piracema::tools
