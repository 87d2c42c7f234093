#include "tools/kv/administration.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/parse.h"
#include "base/text.h"
#include "tools/arguments.h"
#include "tools/failure.h"

namespace piracema::tools {

KvAdministration::KvAdministration(CLI::App& kv, const std::string& footer) {
  members_ = add(kv, "members", "Ask who the replicas are now", footer);
  change_ = add(kv, "change", "Change who the replicas are, while they run", footer);
  change_->add_option("--remove", remove_, "Replicas to take out");
  change_->add_option("--add", add_,
                      "Replicas to take in: [replica.N] with added = true in the configuration");
  change_->add_flag("--now", at_once_, "Do not wait until those that are added have caught up");
  change_->add_option("--f", f_, "Faults to outlive from then on")->check(CLI::Range(0, 40));
  admit_ = add(kv, "admit", "Admit a client, or give it another key", footer);
  admit_->add_option("CLIENT", client_, "Its number, from 1")->required();
  admit_->add_option("PUBLIC_KEY", public_key_, "As keygen prints it")->required();
  dismiss_ = add(kv, "dismiss", "Take its rights from a client", footer);
  dismiss_->add_option("CLIENT", client_, "Its number")->required();
}

CLI::App* KvAdministration::add(CLI::App& kv, const char* name, const char* help,
                                const std::string& footer) {
  CLI::App* const command = kv.add_subcommand(name, help);
  command->add_option("--config", config_, "Configuration of the group")->required();
  command->add_option("--key", key_, "The administrator's key file")->required();
  command->add_option("--timeout", timeout_, "To wait until it is done; default: 10s");
  command->add_flag("--json", json_, "The replicas as one JSON object");
  command->footer(footer);
  return command;
}

bool KvAdministration::parsed() const {
  return members_->parsed() || change_->parsed() || admit_->parsed() || dismiss_->parsed();
}

int KvAdministration::run() {
  const auto timeout = parse_duration(timeout_);
  if (!timeout) return fail_asked({Errc::usage, "--timeout: " + timeout.error().message});
  const auto configuration = smr::read_configuration(config_);
  if (!configuration) return fail_asked(configuration.error());
  auto administrator = smr::Administrator::open(
      *configuration,
      {.key_file = key_, .timeout = *timeout, .waits_for = [](const std::string& what) {
         log(Level::info, "waits: " + what);
       }});
  if (!administrator) return fail_asked(administrator.error());
  if (admit_->parsed() || dismiss_->parsed()) {
    const auto done = admit_->parsed() ? (*administrator)->admit(client_, public_key_)
                                       : (*administrator)->dismiss(client_);
    return done ? 0 : fail_asked(done.error());
  }
  const auto members =
      change_->parsed() ? change(**administrator, *configuration) : (*administrator)->members();
  return members ? show(*members) : fail_asked(members.error());
}

Result<smr::Members> KvAdministration::change(smr::Administrator& administrator,
                                              const smr::Configuration& configuration) const {
  smr::MembersChange change;
  change.remove = remove_;
  change.at_once = at_once_;
  if (f_ >= 0) change.f = static_cast<std::uint32_t>(f_);
  for (const std::uint32_t id : add_) {
    const auto& replicas = configuration.replicas;
    const auto found = std::find_if(replicas.begin(), replicas.end(), [id](const auto& replica) {
      return replica.id == id && replica.added;
    });
    if (found == replicas.end()) {
      return Error{Errc::config, concat(config_, ": want a section [replica.", id,
                                        "] with added = true, found none")};
    }
    change.add.push_back(*found);
  }
  if (change.remove.empty() && change.add.empty() && !change.f) {
    return Error{Errc::usage, "kv change: want --remove, --add or --f"};
  }
  return administrator.change(change);
}

int KvAdministration::show(const smr::Members& members) const {
  if (json_) {
    nlohmann::ordered_json object{{"view", members.view}, {"f", members.f}};
    for (const auto& one : members.replicas) {
      object["replicas"].push_back(
          {{"id", one.id}, {"address", one.address}, {"public_key", one.public_key}});
    }
    std::printf("%s\n", object.dump().c_str());
    return 0;
  }
  std::printf("view %u, f = %u\n", members.view, members.f);
  for (const auto& one : members.replicas) {
    std::printf("replica %u at %s\n", one.id, one.address.c_str());
  }
  return 0;
}

}  // namespace piracema::tools
