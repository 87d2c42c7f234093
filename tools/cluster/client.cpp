#include "tools/cluster/client.h"

#include <piracema/smr/administrator.h>
#include <piracema/smr/client.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <limits>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "tools/cluster/user_home.h"

namespace piracema::tools {

using jobs::Answer;

namespace {

// A replica answers after ten seconds, if there is nothing to tell; and at once where it holds as
// many questions of this client as it will.
constexpr std::chrono::milliseconds held_patience{12'000}, least_pause{200};

}  // namespace

// The variable is no default of CLI11's, which sets it for each command that has one, said or not,
// and the last one would win.
void add_cluster_options(CLI::App& command, std::string& directory, std::string& timeout,
                         const char* more) {
  const char* const set = std::getenv("PIRACEMA_CLUSTER");
  if (set != nullptr) directory = set;
  command.add_option(
      "--cluster", directory,
      concat("Directory with cluster.toml", more, " and user.key; default:\n$PIRACEMA_CLUSTER"));
  command.add_option("--timeout", timeout, "To wait for the control plane; default: " + timeout);
}

Result<ClusterClient> ClusterClient::open(const std::string& directory,
                                          std::chrono::milliseconds timeout) {
  if (directory.empty()) {
    return Error{Errc::usage,
                 "want --cluster DIR, or PIRACEMA_CLUSTER, with cluster.toml and user.key"};
  }
  const auto configuration = smr::read_configuration(directory + "/cluster.toml");
  if (!configuration) return configuration.error();
  const auto home = UserHome::read(directory);
  if (!home) return home.error();
  auto client = smr::Client::open(
      *configuration, {.id = home->client, .key_file = home->key_file, .timeout = timeout});
  if (!client) return client.error();
  return ClusterClient(*std::move(client));
}

Result<std::unique_ptr<smr::Administrator>> open_administrator(const std::string& directory,
                                                               std::chrono::milliseconds timeout) {
  const auto configuration = smr::read_configuration(directory + "/cluster.toml");
  if (!configuration) return configuration.error();
  return smr::Administrator::open(
      *configuration, {.key_file = directory + "/administrator.key", .timeout = timeout});
}

ClusterClient::ClusterClient(std::unique_ptr<smr::Client> client) : client_(std::move(client)) {}
ClusterClient::ClusterClient(ClusterClient&&) noexcept = default;
ClusterClient::~ClusterClient() = default;

Result<Answer> ClusterClient::ask(const jobs::Operation& operation) {
  const Buffer bytes = encode(operation);
  return read(jobs::is_question(operation) ? client_->invoke_unordered(bytes)
                                           : client_->invoke_ordered(bytes));
}

// Whoever holds it may be lost. Then it is asked anew, and whether anybody answers is seen at once
// by a question that is not held.
Result<Answer> ClusterClient::await(const jobs::Operation& question) {
  const Time began = now();
  auto reply = client_->invoke_held(encode(question), held_patience);
  if (!reply && reply.error().code == Errc::timeout) {
    const auto any = ask(jobs::ListJobs{std::numeric_limits<jobs::JobId>::max()});
    return any ? Answer{} : any;
  }
  auto answer = read(std::move(reply));
  if (answer && answer->mark == 0) std::this_thread::sleep_for(began + least_pause - now());
  return answer;
}

Result<jobs::Job> ClusterClient::show(jobs::JobId id) {
  auto answer = ask(jobs::ShowJob{id});
  if (!answer) return answer.error();
  if (answer->jobs.size() != 1) return Error{Errc::corrupt, "an answer without a job"};
  return std::move(answer->jobs.front());
}

Result<Answer> ClusterClient::read(Result<Buffer> reply) {
  if (!reply) {
    return Error{reply.error().code, concat("the control plane of the cluster has not answered: ",
                                            reply.error().message)};
  }
  auto answer = jobs::decode_answer(*reply);
  if (answer && answer->verdict != Answer::Verdict::done) {
    return Error{Errc::refused, answer->why};
  }
  return answer;
}

}  // namespace piracema::tools
