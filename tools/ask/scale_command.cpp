#include "tools/ask/scale_command.h"

#include <CLI/CLI.hpp>

#include "base/parse.h"
#include "base/text.h"

namespace piracema::tools {

namespace {

constexpr JobRequest::Kind scale_kind{.path = "/api/v1/scale",
                                      .newest = "scale",
                                      .count = "scales",
                                      .not_there = "that can be scaled",
                                      .nothing_to_do = "nothing to change: the job runs so"};

// Of nodes that share a thread the name has a '+'.
std::string escaped(const std::string& name) {
  std::string text;
  for (const char c : name) text += c == '+' ? std::string("%2B") : std::string(1, c);
  return text;
}

Result<std::pair<std::string, std::uint32_t>> parse_wanted(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const auto replicas =
      equals == text.npos ? std::nullopt : parse_number<std::uint32_t>(text.substr(equals + 1));
  constexpr const char* letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+";
  if (name.empty() || name.find_first_not_of(letters) != name.npos || !replicas || *replicas == 0) {
    return Error{
        Errc::usage,
        concat("want an operator and at least 1 replica, as in count=3, found '", text, "'")};
  }
  return std::pair(name, *replicas);
}

JobRequest::Outcome outcome_of_scale(const nlohmann::json& scale) {
  const std::string change = text_in(scale, "change");
  if (text_in(scale, "state") != "done") {
    return {concat(change, ": ", text_in(scale, "why")), JobRequest::not_done};
  }
  const double took = seconds_in(scale, "took"), paused = seconds_in(scale, "paused");
  return {
      concat(change, ", in ", human_seconds(took), ", sources paused for ", human_seconds(paused)),
      0,
      {{"seconds", took}, {"paused", paused}}};
}

}  // namespace

ScaleCommand::ScaleCommand(CLI::App& app) : app_(app), request_(scale_kind) {}

void ScaleCommand::add() {
  scale_ = app_.add_subcommand("scale", "Give a running job other numbers of replicas or workers");
  request_.add_options(*scale_);
  scale_->add_option("OPERATOR=N", wanted_, "How many replicas an operator is to have")
      ->check([this](const std::string& text) {
        auto wanted = parse_wanted(text);
        if (!wanted) return wanted.error().message;
        replicas_.push_back(*std::move(wanted));
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

int ScaleCommand::run() const {
  if (replicas_.empty() && !workers_) {
    return request_.say(
        "refused",
        {"want OPERATOR=N, as in count=3, or -n N; see piracema scale --help", JobRequest::usage});
  }
  std::string arguments;
  for (const auto& [name, replicas] : replicas_) {
    arguments += concat(arguments.empty() ? "?replicas=" : ",", escaped(name), "=", replicas);
  }
  if (workers_) arguments += concat(arguments.empty() ? "?" : "&", "workers=", *workers_);
  return request_.run(arguments, outcome_of_scale);
}

}  // namespace piracema::tools
