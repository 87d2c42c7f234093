#include "tools/kv/leader.h"

#include <piracema/smr/configuration.h>
#include <piracema/smr/find_leader.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/parse.h"
#include "base/text.h"
#include "tools/failure.h"

namespace piracema::tools {

KvLeader::KvLeader(CLI::App& kv, const std::string& footer) {
  leader_ = kv.add_subcommand("leader", "Print the leader's address; wants no key");
  leader_->add_option("--config", config_, "Configuration of the group; or else:");
  leader_->add_option("--group", group_, "The group's name");
  leader_->add_option("ADDRESSES", addresses_, "Of some of its replicas: 10.0.0.1:7300 ...");
  leader_->add_option("--timeout", timeout_, "To wait for answers; default: 3s");
  leader_->add_flag("--json", json_, "One JSON object");
  leader_->footer(footer);
}

int KvLeader::run() const {
  const auto timeout = parse_duration(timeout_);
  if (!timeout) return fail_asked({Errc::usage, "--timeout: " + timeout.error().message});
  if (config_.empty() == (group_.empty() || addresses_.empty())) {
    return fail_asked(
        {Errc::usage, "kv leader: want --config, or --group and addresses of replicas"});
  }
  std::string group = group_;
  std::vector<std::string> addresses = addresses_;
  if (!config_.empty()) {
    const auto configuration = smr::read_configuration(config_);
    if (!configuration) return fail_asked(configuration.error());
    group = configuration->name;
    for (const auto& replica : configuration->replicas) addresses.push_back(replica.address);
  }
  const auto leader = smr::find_leader(group, addresses, *timeout);
  if (!leader) return fail_asked(leader.error());
  if (json_) {
    const nlohmann::ordered_json object{{"leader", leader->id},
                                        {"address", leader->address},
                                        {"view", leader->view},
                                        {"regency", leader->regency}};
    std::printf("%s\n", object.dump().c_str());
  } else {
    std::printf("%s\n", leader->address.c_str());
  }
  return 0;
}

}  // namespace piracema::tools
