#include "tools/ask/savepoint_command.h"

#include <CLI/CLI.hpp>

#include "base/text.h"
#include "store/snapshot/savepoint.h"

namespace piracema::tools {

namespace {

constexpr JobRequest::Kind savepoint_kind{.path = "/api/v1/savepoint",
                                          .newest = "savepoint",
                                          .count = "savepoints",
                                          .not_there = "that takes savepoints"};

JobRequest::Outcome outcome_of_savepoint(const nlohmann::json& savepoint) {
  const std::string name = text_in(savepoint, "name");
  if (text_in(savepoint, "state") != "done") {
    return {concat("no savepoint '", name, "': ", text_in(savepoint, "why")), JobRequest::not_done};
  }
  const double took = seconds_in(savepoint, "took");
  const nlohmann::json& snapshot = savepoint["snapshot"];
  return {
      concat("savepoint '", name, "' is snapshot ", snapshot.dump(), ", in ", human_seconds(took)),
      0,
      {{"name", name}, {"snapshot", snapshot}, {"seconds", took}}};
}

}  // namespace

SavepointCommand::SavepointCommand(CLI::App& app) : app_(app), request_(savepoint_kind) {}

void SavepointCommand::add() {
  savepoint_ = app_.add_subcommand("savepoint", "Take a snapshot of a running job, with a name");
  request_.add_options(*savepoint_);
  savepoint_
      ->add_option("NAME", name_, "Keeps the snapshot until piracema snapshots DIR --delete NAME")
      ->required();
  savepoint_->footer(
      "The job takes a snapshot at once, and goes on. Its barriers wait for all items before them, "
      "so\n"
      "that none is saved under way: go on from it with other numbers of replicas, or as another "
      "version\n"
      "of the program, with piracema run --resume --from NAME.\n\n"
      "Example:\n  piracema savepoint http://127.0.0.1:41871/?token=… before-upgrade\n\n"
      "Exit codes:\n"
      "  0 the snapshot is there and has the name   1 it could not be taken   2 usage\n"
      "  3 the job takes none, or nobody answers\n"
      "  75 not now: the job has not begun, takes another one, or takes longer than --within\n");
}

int SavepointCommand::run() const {
  if (const auto fits = store::check_savepoint_name(name_); !fits) {
    return request_.say("refused", {fits.error().message, JobRequest::usage});
  }
  return request_.run(concat("?name=", name_), outcome_of_savepoint);
}

}  // namespace piracema::tools
