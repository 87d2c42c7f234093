#include "tools/ask/job_request.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "base/parse.h"
#include "base/text.h"

namespace piracema::tools {

namespace {

constexpr std::chrono::milliseconds look_every{50};

}  // namespace

void JobRequest::add_options(CLI::App& command) {
  command
      .add_option("ADDRESS", address_,
                  "Where the job is shown, as piracema run --http has said: the whole\n"
                  "http://…, a file (/… or ./…) that has it, or a port or HOST:PORT\nand "
                  "--http-token")
      ->required();
  command.add_option("--http-token", token_file_, "File with the token of the job")
      ->type_name("FILE");
  command
      .add_option_function<std::string>(
          "--within",
          [this](const std::string& text) {
            const auto within = parse_duration(text);
            if (!within) throw CLI::ValidationError("--within", within.error().message);
            within_ = *within;
          },
          "How long to wait until it is done, which it may be later; default: 60s")
      ->type_name("TIME");
  command.add_flag("--json", json_, "One line of JSON on standard output");
}

int JobRequest::say(const std::string& state, const Outcome& outcome) const {
  if (json_) {
    nlohmann::ordered_json all = {{"state", state}, {"code", outcome.code}, {"text", outcome.text}};
    all.update(outcome.more);
    std::puts(all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  }
  if (outcome.code != 0) {
    log(Level::error, outcome.text);
  } else if (!json_) {
    std::puts(outcome.text.c_str());
  }
  return outcome.code;
}

int JobRequest::run(const std::string& arguments, Tell tell) const {
  const auto address = find_job(address_, token_file_);
  if (!address) {
    return say("refused", {address.error().message, exit_code_of(address.error())});
  }
  // What is shown may be older than the answer: then it is of one before.
  const auto job = read_job(*address);
  if (!job) return say("refused", {job.error().message, refused});
  if (const auto code = ask(*address, arguments)) return *code;
  return wait(*address, begun(*job), tell);
}

Result<nlohmann::json> JobRequest::read_job(const JobAddress& address) const {
  const auto answer = http_get(address, "/api/v1/job");
  if (!answer) return answer.error();
  auto job = nlohmann::json::parse(*answer, nullptr, false);
  if (job.is_object() && job.contains(kind_.count)) return job;
  return Error{Errc::refused, concat(address.host_port, ": what is there is no job of Piracema ",
                                     kind_.not_there)};
}

std::uint64_t JobRequest::begun(const nlohmann::json& job) const {
  const nlohmann::json& count = job[kind_.count];
  return count.is_number_unsigned() ? count.get<std::uint64_t>() : 0;
}

// The exit code, if nothing has to be waited for.
std::optional<int> JobRequest::ask(const JobAddress& address, const std::string& arguments) const {
  const auto answer = http_post(address, kind_.path + arguments);
  if (!answer) return say("refused", {answer.error().message, refused});
  if (answer->code == 202) return std::nullopt;
  if (answer->code == 200) return say("done", {kind_.nothing_to_do, 0});
  const auto body = nlohmann::json::parse(answer->body, nullptr, false);
  std::string why = body.is_object() ? text_in(body, "why") : "";
  if (why.empty()) {
    why = concat(address.host_port, ": ", answer->code, ": ",
                 answer->body.substr(0, std::min<std::size_t>(answer->body.find('\n'), 200)));
  }
  return say("refused", {why, answer->code == 409 ? try_again : refused});
}

int JobRequest::wait(const JobAddress& address, std::uint64_t before, Tell tell) const {
  const Time until = now() + within_;
  for (;; std::this_thread::sleep_for(look_every)) {
    const auto job = read_job(address);
    if (!job) {
      return say("lost",
                 {concat("the job does not answer any more: ", job.error().message), refused});
    }
    const auto found = job->find(kind_.newest);
    if (found != job->end() && found->is_object() && begun(*job) > before) {
      const std::string state = text_in(*found, "state");
      if (state != "under way") return say(state, tell(*found));
    }
    if (now() >= until) {
      return say("under way", {concat("not done within ",
                                      human_seconds(std::chrono::duration<double>(within_).count()),
                                      "; the job goes on with it"),
                               try_again});
    }
  }
}

std::string text_in(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

double seconds_in(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

}  // namespace piracema::tools
