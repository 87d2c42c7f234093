#include "tools/cluster/queue.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/log.h"
#include "base/parse.h"
#include "base/text.h"
#include "tools/cluster/followed_job.h"
#include "tools/cluster/view.h"
#include "tools/failure.h"

namespace piracema::tools {

namespace {

using jobs::Job;
using jobs::JobState;

// The control plane keeps the last of it alone.
std::string where_it_is_whole(const Job& job) {
  const bool has_parts = jobs::outlives_first_node(job.spec);
  return concat(has_parts ? "its nodes" : concat("the node ", job.node), " alone, in jobs/", job.id,
                ".", job.attempt, has_parts ? "*.log" : ".log");
}

}  // namespace

CLI::App* ClusterQueue::add(CLI::App& cluster, const char* name, const char* help) {
  CLI::App* const command = cluster.add_subcommand(name, help);
  add_cluster_options(*command, directory_, timeout_);
  commands_.push_back(command);
  return command;
}

ClusterQueue::ClusterQueue(CLI::App& cluster, const std::string& footer) {
  submit_ = add(cluster, "submit", "Have a program run on a node; prints the job's number");
  submission_ = std::make_unique<Submission>(*submit_);
  submit_->add_flag("--wait", wait_for_it_, "Print what it says, and end as it does");
  submit_->footer(
      concat("The program is looked for on the node, and runs as the node does, or as\n"
             "the account of its user (piracema cluster users). It has\n"
             "PIRACEMA_JOB and PIRACEMA_ATTEMPT in its environment. When it is to leave its node\n"
             "it gets SIGTERM, and SIGKILL after 30 s.\n\n"
             "A job of several nodes finds them in PIRACEMA_HOSTS, and has PIRACEMA_RSH, a remote\n"
             "shell; piracema run takes both. See piracema cluster rsh --help.\n\n"
             "Examples:\n  piracema cluster submit --slots 4 -- make -j4\n"
             "  piracema cluster submit --nodes 3 --slots 2 --stream --snapshots /shared/job \\\n"
             "      -- ./app in out\n"
             "  piracema cluster submit --slots 4 --images /shared/sim -- mpirun -n 4 ./sim\n\n",
             footer));
  jobs_ = add(cluster, "jobs", "List jobs that wait or run");
  jobs_->add_flag("--all", all_, "Also those that are over");
  jobs_->add_flag("--json", json_, "One JSON object for each");
  jobs_->footer(footer);
  logs_ = add(cluster, "logs", "Print the last of what a job has written");
  logs_->add_option("JOB", ids_, "Its number")->required()->expected(1);
  logs_->add_flag("-f,--follow", follow_, "Go on until it is over");
  logs_->footer(footer);
  wait_ = add(cluster, "wait", "Wait until a job is over, and end with its exit code");
  wait_->add_option("JOB", ids_, "Its number")->required()->expected(1);
  wait_->footer(footer);
  cancel_ = add(cluster, "cancel",
                "End jobs: SIGTERM, and SIGKILL after 30 s. A stream takes a\nlast snapshot, and "
                "submit --resume goes on from it");
  cancel_->add_option("JOBS", ids_, "Their numbers")->required();
  cancel_->footer(footer);
  nodes_ = add(cluster, "nodes", "List the nodes");
  nodes_->add_flag("--json", json_, "One JSON object for each");
  nodes_->footer(footer);
  drain_ = add(cluster, "drain", "Have a node's jobs go on elsewhere, and begin none there");
  drain_->add_option("NODE", node_, "Its name")->required();
  drain_->add_flag("--off", off_, "Begin jobs there again");
  drain_->footer(footer);
}

bool ClusterQueue::parsed() const {
  return std::any_of(commands_.begin(), commands_.end(),
                     [](const CLI::App* command) { return command->parsed(); });
}

int ClusterQueue::run() {
  const auto timeout = parse_duration(timeout_);
  if (!timeout) return fail_asked({Errc::usage, "--timeout: " + timeout.error().message});
  auto client = ClusterClient::open(directory_, *timeout);
  if (!client) return fail_asked(client.error());
  client_.emplace(*std::move(client));
  if (submit_->parsed()) return submit();
  if (jobs_->parsed()) return list_jobs();
  if (nodes_->parsed()) return list_nodes();
  if (logs_->parsed()) return logs();
  if (wait_->parsed()) return follow(ids_.front(), false);
  if (cancel_->parsed()) return cancel();
  return drain();
}

int ClusterQueue::submit() {
  const auto spec = submission_->spec();
  if (!spec) return fail_asked(spec.error());
  const auto answer = client_->ask(jobs::Submit{*spec});
  if (!answer) return fail_asked(answer.error());
  std::printf("%llu\n", static_cast<unsigned long long>(answer->job));
  std::fflush(stdout);
  return wait_for_it_ ? follow(answer->job, true) : 0;
}

int ClusterQueue::list_jobs() {
  bool first = true;
  for (jobs::JobId from = 0;;) {
    const auto answer = client_->ask(jobs::ListJobs{from});
    if (!answer) return fail_asked(answer.error());
    for (const Job& job : answer->jobs) {
      if (!all_ && is_over(job.state)) continue;
      if (json_) {
        print(json_of(job, answer->now_ms));
        continue;
      }
      if (std::exchange(first, false)) std::printf("%s\n", job_header().c_str());
      std::printf("%s\n", line_of(job, answer->now_ms).c_str());
    }
    if (answer->next == 0) return 0;
    from = answer->next;
  }
}

int ClusterQueue::list_nodes() {
  const auto answer = client_->ask(jobs::ListNodes{});
  if (!answer) return fail_asked(answer.error());
  if (!json_) std::printf("%s\n", node_header().c_str());
  for (const jobs::Node& node : answer->nodes) {
    if (json_) {
      print(json_of(node, answer->now_ms));
    } else {
      std::printf("%s\n", line_of(node, answer->now_ms).c_str());
    }
  }
  return 0;
}

int ClusterQueue::logs() {
  if (follow_) return follow(ids_.front(), true);
  const auto job = client_->show(ids_.front());
  if (!job) return fail_asked(job.error());
  if (job->output_before != 0) {
    log(Level::info,
        concat("the first ", job->output_before, " bytes are on ", where_it_is_whole(*job)));
  }
  std::fwrite(job->output.data(), 1, job->output.size(), stdout);
  return 0;
}

// An attempt that begins anew is told from its beginning.
int ClusterQueue::follow(jobs::JobId id, bool prints_output) {
  std::uint32_t attempt = 0;
  std::uint64_t printed = 0;
  for (FollowedJob followed(*client_, id);;) {
    const auto job = followed.next();
    if (!job) return fail_asked(job.error());
    if (job->attempt != attempt) {
      if (attempt != 0)
        log(Level::warning, concat("attempt ", job->attempt, " begins on ", job->node));
      attempt = job->attempt;
      printed = 0;
    }
    const std::uint64_t end = job->output_before + job->output.size();
    if (prints_output && job->output_before > printed) {
      log(Level::warning, concat(job->output_before - printed,
                                 " bytes are missing here: they are on ", where_it_is_whole(*job)));
    }
    if (prints_output && end > printed) {
      const std::uint64_t from = std::max(printed, job->output_before) - job->output_before;
      std::fwrite(job->output.data() + from, 1, job->output.size() - from, stdout);
      std::fflush(stdout);
      printed = end;
    }
    if (is_over(job->state)) {
      if (job->state == JobState::done) return 0;
      log(Level::error, concat("job ", id, " ", name_of(job->state), ": ", job->why));
      return job->code == 0 ? 1 : static_cast<int>(job->code);
    }
  }
}

int ClusterQueue::cancel() {
  int code = 0;
  for (const std::uint64_t id : ids_) {
    const auto answer = client_->ask(jobs::Cancel{id});
    if (!answer) code = fail_asked(answer.error());
  }
  return code;
}

int ClusterQueue::drain() {
  const auto answer = client_->ask(jobs::Drain{node_, !off_});
  return answer ? 0 : fail_asked(answer.error());
}

}  // namespace piracema::tools
