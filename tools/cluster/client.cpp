#include "tools/cluster/client.h"

#include <piracema/smr/client.h>

#include "base/text.h"
#include "tools/cluster/layout.h"

namespace piracema::tools {

using jobs::Answer;

Result<ClusterClient> ClusterClient::open(const std::string& directory,
                                          std::chrono::milliseconds timeout) {
  if (directory.empty()) {
    return Error{Errc::usage,
                 "want --cluster DIR, or PIRACEMA_CLUSTER, with cluster.toml and user.key"};
  }
  const auto configuration = smr::read_configuration(directory + "/cluster.toml");
  if (!configuration) return configuration.error();
  auto client = smr::Client::open(
      *configuration,
      {.id = jobs::user_client, .key_file = directory + "/user.key", .timeout = timeout});
  if (!client) return client.error();
  return ClusterClient(*std::move(client));
}

ClusterClient::ClusterClient(std::unique_ptr<smr::Client> client) : client_(std::move(client)) {}
ClusterClient::ClusterClient(ClusterClient&&) noexcept = default;
ClusterClient::~ClusterClient() = default;

Result<Answer> ClusterClient::ask(const jobs::Operation& operation) {
  const Buffer bytes = encode(operation);
  auto reply = jobs::is_question(operation) ? client_->invoke_unordered(bytes)
                                            : client_->invoke_ordered(bytes);
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
