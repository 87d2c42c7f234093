#include "tools/scale/command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "base/parse.h"
#include "base/text.h"

namespace piracema::tools {

namespace {

constexpr int stays = 1, refused = 3, try_again = 75;
constexpr std::chrono::milliseconds look_every{50};

std::string text_in(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<double> number_in(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

Result<nlohmann::json> read_job(const JobAddress& address) {
  const auto answer = http_get(address, "/api/v1/job");
  if (!answer) return answer.error();
  auto job = nlohmann::json::parse(*answer, nullptr, false);
  if (job.is_object() && job.contains("scales")) return job;
  return Error{Errc::refused, concat(address.host_port,
                                     ": what is there is no job of Piracema that can be scaled")};
}

// How many changes were begun.
std::uint64_t count_in(const nlohmann::json& job) {
  const nlohmann::json& count = job["scales"];
  return count.is_number_unsigned() ? count.get<std::uint64_t>() : 0;
}

// Of nodes that share a thread the name has a '+'.
std::string escaped(const std::string& name) {
  std::string text;
  for (const char c : name) text += c == '+' ? std::string("%2B") : std::string(1, c);
  return text;
}

std::pair<std::string, std::uint32_t> parse_wanted(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const auto replicas =
      equals == text.npos ? std::nullopt : parse_number<std::uint32_t>(text.substr(equals + 1));
  constexpr const char* letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+";
  if (name.empty() || name.find_first_not_of(letters) != name.npos || !replicas || *replicas == 0) {
    throw CLI::ValidationError(
        "OPERATOR=N",
        concat("want an operator and at least 1 replica, as in count=3, found '", text, "'"));
  }
  return {name, *replicas};
}

}  // namespace

void ScaleCommand::add() {
  scale_ = app_.add_subcommand("scale", "Give a running job other numbers of replicas or workers");
  scale_
      ->add_option("ADDRESS", address_,
                   "Where the job is shown, as piracema run --http has said: the whole\n"
                   "http://…, or a port or HOST:PORT and --http-token")
      ->required();
  scale_->add_option("OPERATOR=N", wanted_, "How many replicas an operator is to have")
      ->check([this](const std::string& text) {
        replicas_.push_back(parse_wanted(text));
        return std::string();
      });
  scale_
      ->add_option_function<std::string>(
          "-n,--workers",
          [this](const std::string& text) {
            workers_ = parse_number<std::uint32_t>(text);
            if (workers_ && *workers_ != 0) return;
            throw CLI::ValidationError("--workers",
                                       concat("want at least 1, as in -n 3, found '", text, "'"));
          },
          "How many processes the job is to have; default: as many as it has")
      ->type_name("N");
  scale_->add_option("--http-token", token_file_, "File with the token of the job")
      ->type_name("FILE");
  scale_
      ->add_option_function<std::string>(
          "--within",
          [this](const std::string& text) {
            const auto within = parse_duration(text);
            if (!within) throw CLI::ValidationError("--within", within.error().message);
            within_ = *within;
          },
          "How long to wait until it is done, which it may be later; default: 60s")
      ->type_name("TIME");
  scale_->add_flag("--json", json_, "One line of JSON on standard output");
  scale_->footer(
      "Sources stop at a snapshot, and all go on from it by the new numbers: nothing is lost or "
      "done\n"
      "twice, and ordered output stays as it is. Operators with state by key and those without "
      "state\n"
      "can have other numbers; sources, and operators with a state for each replica, cannot.\n\n"
      "Example:\n  piracema scale http://127.0.0.1:41871/?token=… count=3 -n 3\n\n"
      "Exit codes:\n"
      "  0 the job runs so   1 it stays as it is   2 usage   3 it cannot be, or nobody answers\n"
      "  75 not now: it has not begun, is being scaled already, or takes longer than --within\n");
}

int ScaleCommand::say(const std::string& state, const std::string& text, int code,
                      std::optional<double> took, std::optional<double> paused) const {
  if (json_) {
    nlohmann::ordered_json all = {{"state", state}, {"code", code}, {"text", text}};
    if (took) all["seconds"] = *took;
    if (paused) all["paused"] = *paused;
    std::puts(all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  }
  if (code != 0) {
    log(Level::error, text);
  } else if (!json_) {
    std::puts(text.c_str());
  }
  return code;
}

int ScaleCommand::run() const {
  auto address = parse_job_address(address_);
  if (!address) return say("refused", address.error().message, 2);
  if (replicas_.empty() && !workers_) {
    return say("refused", "want OPERATOR=N, as in count=3, or -n N; see piracema scale --help", 2);
  }
  if (!token_file_.empty()) {
    std::ifstream in(token_file_);
    if (!(in >> address->token)) {
      return say("refused", concat("--http-token ", token_file_, ": want a file with a token"),
                 refused);
    }
  }
  // What is shown may be older than the answer: then it is of a change before.
  const auto job = read_job(*address);
  if (!job) return say("refused", job.error().message, refused);
  if (const auto code = ask(*address)) return *code;
  return wait(*address, count_in(*job));
}

// The exit code, if nothing has to be waited for.
std::optional<int> ScaleCommand::ask(const JobAddress& address) const {
  std::string arguments;
  for (const auto& [name, replicas] : replicas_) {
    arguments += concat(arguments.empty() ? "?replicas=" : ",", escaped(name), "=", replicas);
  }
  if (workers_) arguments += concat(arguments.empty() ? "?" : "&", "workers=", *workers_);
  const auto answer = http_post(address, "/api/v1/scale" + arguments);
  if (!answer) return say("refused", answer.error().message, refused);
  if (answer->code == 202) return std::nullopt;
  if (answer->code == 200) return say("done", "nothing to change: the job runs so", 0);
  const auto body = nlohmann::json::parse(answer->body, nullptr, false);
  std::string why = body.is_object() ? text_in(body, "why") : "";
  if (why.empty()) {
    why = concat(address.host_port, ": ", answer->code, ": ",
                 answer->body.substr(0, std::min<std::size_t>(answer->body.find('\n'), 200)));
  }
  return say("refused", why, answer->code == 409 ? try_again : refused);
}

int ScaleCommand::wait(const JobAddress& address, std::uint64_t before) const {
  const Time until = now() + within_;
  for (;; std::this_thread::sleep_for(look_every)) {
    const auto job = read_job(address);
    if (!job) {
      return say("lost", concat("the job does not answer any more: ", job.error().message),
                 refused);
    }
    const auto found = job->find("scale");
    if (found != job->end() && found->is_object() && count_in(*job) > before) {
      const std::string state = text_in(*found, "state"), change = text_in(*found, "change");
      if (state == "done") {
        const auto took = number_in(*found, "took"), paused = number_in(*found, "paused");
        return say(state,
                   concat(change, ", in ", human_seconds(took.value_or(0)), ", sources paused for ",
                          human_seconds(paused.value_or(0))),
                   0, took, paused);
      }
      if (state == "given up")
        return say(state, concat(change, ": ", text_in(*found, "why")), stays);
    }
    if (now() >= until) {
      return say(
          "under way",
          concat("not done within ", human_seconds(std::chrono::duration<double>(within_).count()),
                 "; the job goes on with it"),
          try_again);
    }
  }
}

}  // namespace piracema::tools
