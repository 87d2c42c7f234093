#include "tools/kv/status.h"

#include <piracema/smr/status.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/parse.h"
#include "base/text.h"
#include "tools/failure.h"

namespace piracema::tools {

namespace {

std::string line_of(const smr::ReplicaStatus& one) {
  const std::string head = concat("replica ", one.id, " at ", one.address, ": ");
  if (!one.trouble.empty()) return concat(head, "no answer: ", one.trouble);
  std::string line = head;
  if (!one.is_member) {
    line += "no member";
  } else if (one.silent) {
    line += "silent: it has lost what it had promised, and is catching up";
  } else {
    line += one.leader == one.id ? "leads" : concat("follows ", one.leader);
  }
  line += concat(", view ", one.view, ", regency ", one.regency, ", ", one.decided,
                 " instances decided, connected to");
  for (const std::uint32_t id : one.connected) line += concat(" ", id);
  if (one.connected.empty()) line += " nobody";
  if (one.pieces_of > 0) {
    line += concat(", has ", one.pieces, " of ", one.pieces_of, " pieces of a checkpoint");
  }
  return line + concat(", ", one.clients, " connections of clients");
}

nlohmann::ordered_json json_of(const smr::ReplicaStatus& one) {
  nlohmann::ordered_json object{{"id", one.id}, {"address", one.address}};
  if (!one.trouble.empty()) {
    object["trouble"] = one.trouble;
    return object;
  }
  object["member"] = one.is_member;
  object["silent"] = one.silent;
  object["leader"] = one.leader;
  object["view"] = one.view;
  object["regency"] = one.regency;
  object["decided"] = one.decided;
  object["connected"] = one.connected;
  object["clients"] = one.clients;
  if (one.pieces_of > 0) {
    object["pieces"] = one.pieces;
    object["pieces_of"] = one.pieces_of;
  }
  return object;
}

}  // namespace

KvStatus::KvStatus(CLI::App& kv, const std::string& footer) {
  status_ =
      kv.add_subcommand("status", "Ask each replica how it is, and whether the group can go on");
  status_->add_option("--config", config_, "Configuration of the group")->required();
  status_->add_option("--key", key_, "The client's key file")->required();
  status_->add_option("--client", client_, "The client's number in it; default: 1");
  status_->add_flag("--administrator", administrator_, "The key is the administrator's");
  status_->add_option("--timeout", timeout_, "To wait for all replicas; default: 3s");
  status_->add_flag("--json", json_, "One JSON object");
  status_->footer(footer);
}

int KvStatus::run() const {
  const auto timeout = parse_duration(timeout_);
  if (!timeout) return fail({Errc::usage, "--timeout: " + timeout.error().message});
  const auto configuration = smr::read_configuration(config_);
  if (!configuration) return fail(configuration.error());
  const auto group = smr::ask_status(
      *configuration,
      {.client = administrator_ ? 0 : client_, .key_file = key_, .timeout = *timeout});
  if (!group) return fail(group.error());
  const bool goes_on = group->leader.has_value();
  if (json_) {
    nlohmann::ordered_json object{{"group", configuration->name},
                                  {"goes_on", goes_on},
                                  {"wanted", group->wanted},
                                  {"here", group->here}};
    if (group->leader) object["leader"] = *group->leader;
    for (const auto& one : group->replicas) object["replicas"].push_back(json_of(one));
    std::printf("%s\n", object.dump().c_str());
    return goes_on ? 0 : 1;
  }
  std::printf("group %s: %s, %zu of %zu that are wanted take part\n", configuration->name.c_str(),
              goes_on ? concat("goes on, led by ", *group->leader).c_str() : "does not go on",
              group->here, group->wanted);
  for (const auto& one : group->replicas) std::printf("%s\n", line_of(one).c_str());
  return goes_on ? 0 : 1;
}

}  // namespace piracema::tools
