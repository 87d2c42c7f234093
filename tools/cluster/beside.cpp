#include "tools/cluster/beside.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/parse.h"
#include "base/text.h"
#include "tools/cluster/resize.h"

namespace piracema::tools {

namespace {

// The node tells the job, and what is run beside it, where the stream is shown once it runs.
constexpr const char* beside_script = "exec piracema \"$0\" --json \"$PIRACEMA_HTTP_FILE\" \"$@\"";

// As those commands have them.
constexpr int code_not_done = 1, code_usage = 2, code_refused = 3, code_again = 75;

// More is a signal, or the cluster's word for a part that nobody wants any more.
constexpr int code_of_shell_max = 127;

constexpr const char* beside_exit_codes =
    "Exit codes:\n"
    "  0 done   1 it could not be, or the control plane does not answer   2 usage\n"
    "  3 the job takes no such thing, or does not run   75 not now: ask again, or it takes\n"
    "  longer than --within\n";

}  // namespace

CLI::App* ClusterBeside::add(CLI::App& cluster, const char* name, const char* help) {
  CLI::App* const command = cluster.add_subcommand(name, help);
  add_cluster_options(*command, directory_, timeout_);
  command->add_option("--within", within_,
                      "How long to wait until it is done, which it may be later; default: 60s");
  command->add_flag("--json", json_, "One line of JSON on standard output");
  command->add_option("JOB", job_, "The number of a stream that runs")->required();
  return command;
}

ClusterBeside::ClusterBeside(CLI::App& cluster) {
  savepoint_ = add(cluster, "savepoint", "Have a stream take a snapshot with a name, and go on");
  savepoint_->add_option("NAME", name_, "Of the savepoint")->required();
  savepoint_->footer(concat(
      "As piracema savepoint does it. The stream can be submitted anew from there:\n"
      "  piracema cluster submit -- piracema run --snapshots DIR --resume --from NAME ./app\n\n",
      beside_exit_codes));
  scale_ = add(cluster, "scale", "Give a stream other numbers of replicas, workers or nodes");
  scale_->add_option("OPERATOR=N", wanted_, "How many replicas an operator is to have");
  scale_->add_option("-n,--workers", workers_,
                     "How many processes it is to have, at most the places of the job;\n"
                     "default: as many as it has");
  scale_->add_option("--nodes", nodes_,
                     "On how many nodes it is to run, at least 2; its workers spread over\n"
                     "them with the next snapshot. Of a stream of several nodes");
  scale_->footer(concat(
      "As piracema scale does it, without stopping the stream. Where that begins anew, as when "
      "its\n"
      "first node is lost, it has as many replicas as at its newest snapshot, and a worker for\n"
      "each place.\n\n"
      "Examples:\n  piracema cluster scale 7 count=3\n"
      "  piracema cluster scale 7 --nodes 4 -n 16\n\n",
      beside_exit_codes));
}

int ClusterBeside::say(const char* state, const std::string& text, int code) const {
  if (json_) {
    const nlohmann::ordered_json line{{"state", state}, {"code", code}, {"text", text}};
    std::printf("%s\n", line.dump().c_str());
  }
  log(Level::error, text);
  return code;
}

std::vector<std::string> ClusterBeside::words() const {
  std::vector<std::string> words{
      "sh", "-c", beside_script, savepoint_->parsed() ? "savepoint" : "scale", "--within", within_};
  if (workers_) words.insert(words.end(), {"-n", std::to_string(*workers_)});
  words.emplace_back("--");
  if (savepoint_->parsed()) words.push_back(name_);
  words.insert(words.end(), wanted_.begin(), wanted_.end());
  return words;
}

int ClusterBeside::run() const {
  const auto timeout = parse_duration(timeout_);
  if (!timeout) return say("refused", "--timeout: " + timeout.error().message, code_usage);
  if (const auto within = parse_duration(within_); !within) {
    return say("refused", "--within: " + within.error().message, code_usage);
  }
  if (scale_->parsed() && wanted_.empty() && !workers_ && !nodes_) {
    return say("refused", "want OPERATOR=N, as in count=3, or -n N, or --nodes N", code_usage);
  }
  auto client = ClusterClient::open(directory_, *timeout);
  if (!client) {
    const bool is_usage = client.error().code == Errc::usage;
    return say("refused", client.error().message, is_usage ? code_usage : code_refused);
  }
  if (!nodes_ && !workers_) return ask(*client);
  const auto job = client->show(job_);
  if (!job) return trouble(job.error());
  if (const auto fits = check_places(job->spec); !fits) return trouble(fits.error());
  const bool asks_stream = workers_ || !wanted_.empty();
  if (!nodes_) return ask(*client);
  if (!asks_stream) return give_nodes(*client);
  // There is room for all its workers meanwhile.
  const bool grows = *nodes_ >= job->spec.nodes;
  const int code = grows ? give_nodes(*client) : ask(*client);
  if (code != 0) return code;
  return grows ? ask(*client) : give_nodes(*client);
}

int ClusterBeside::trouble(const Error& error) const {
  const bool is_refused = error.code == Errc::refused;
  return say(is_refused ? "refused" : "lost", error.message,
             is_refused ? code_refused : code_not_done);
}

// More processes than it has places would take those of other jobs.
Result<Done> ClusterBeside::check_places(const jobs::JobSpec& spec) const {
  if (!workers_) return Done{};
  const std::uint64_t places = std::uint64_t{nodes_.value_or(spec.nodes)} * spec.slots;
  if (*workers_ != 0 && *workers_ <= places) return Done{};
  return Error{Errc::refused, concat("want 1 to ", places, " workers, as job ", job_,
                                     nodes_ ? " would have " : " has ", places,
                                     places == 1 ? " place" : " places", ", found ", *workers_)};
}

int ClusterBeside::give_nodes(ClusterClient& client) const {
  const auto job = resize(client, job_, *nodes_, *parse_duration(within_));
  if (!job) return trouble(job.error());
  if (!has_all_nodes(*job)) {
    return say("lost",
               concat("job ", job_, " is to have ", *nodes_, " nodes, and gets them later: it ",
                      job->why.empty() ? "moves" : job->why),
               code_again);
  }
  std::string names = job->node;
  for (const std::string& other : job->others) names += " " + other;
  const std::string text = concat("job ", job_, " has ", *nodes_, " nodes: ", names);
  if (json_) {
    const nlohmann::ordered_json line{{"state", "done"}, {"code", 0}, {"text", text}};
    std::puts(line.dump().c_str());
  } else {
    std::puts(text.c_str());
  }
  return 0;
}

int ClusterBeside::ask(ClusterClient& client) const {
  const auto answer = client.ask(jobs::RunBeside{job_, words()});
  if (!answer) return trouble(answer.error());
  if (answer->jobs.size() != 1 || answer->jobs.front().parts.empty()) {
    return trouble({Errc::corrupt, "an answer without a job"});
  }
  return wait(FollowedJob(client, job_, answer->now_ms), answer->jobs.front());
}

int ClusterBeside::wait(FollowedJob followed, const jobs::Job& asked) const {
  const std::uint32_t part = asked.parts.rbegin()->first;
  while (true) {
    const auto job = followed.next();
    if (!job) return say("lost", job.error().message, code_not_done);
    const auto found = job->parts.lower_bound(part);
    const bool is_known = found != job->parts.end();
    if (job->attempt == asked.attempt && is_known && found->first == part) {
      if (found->second.ended) return tell(*found->second.ended);
      continue;
    }
    // A replica that is an operation behind does not know of it yet.
    const bool is_behind = job->attempt < asked.attempt || (job->attempt == asked.attempt &&
                                                            job->state == asked.state && !is_known);
    if (is_behind) continue;
    if (is_over(job->state)) {
      return say("lost", concat("job ", job_, " has ended meanwhile: ", job->why), code_not_done);
    }
    return say("lost", concat("job ", job_, " has left its node meanwhile: ask again"), code_again);
  }
}

// It has said a line of JSON, and perhaps others for people.
int ClusterBeside::tell(const jobs::Ended& ended) const {
  const std::size_t start = ended.why.starts_with('{') ? 0 : ended.why.find("\n{") + 1;
  const std::string line = ended.why.substr(start, ended.why.find('\n', start) - start);
  const auto told = nlohmann::json::parse(line, nullptr, false);
  int code = static_cast<int>(ended.code);
  if (!told.is_object()) {
    // It was not let finish: by its node, by its node's loss, or as the job is to leave.
    const bool was_ended = ended.end == jobs::End::fenced || code > code_of_shell_max;
    code = was_ended ? code_again : code == code_usage ? code_usage : code_not_done;
    return say("lost", concat("job ", job_, ": ", ended.why), code);
  }
  if (json_) std::puts(line.c_str());
  const auto found = told.find("text");
  const std::string text =
      found != told.end() && found->is_string() ? found->get<std::string>() : "";
  if (code != 0) {
    log(Level::error, text);
  } else if (!json_) {
    std::puts(text.c_str());
  }
  return code;
}

}  // namespace piracema::tools
