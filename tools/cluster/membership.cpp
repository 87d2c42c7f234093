#include "tools/cluster/membership.h"

#include <piracema/smr/administrator.h>
#include <poll.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/clock.h"
#include "base/log.h"
#include "base/parse.h"
#include "base/text.h"
#include "store/disk/file_lock.h"
#include "tools/cluster/layout.h"
#include "tools/failure.h"

namespace piracema::tools {

namespace {

// The end of a lease is looked for so often.
constexpr int leave_look_ms = 200;

/// As the cluster knows it; nullopt: it does not.
Result<std::optional<jobs::Node>> find_node(ClusterClient& client, const std::string& name) {
  auto answer = client.ask(jobs::ListNodes{});
  if (!answer) return answer.error();
  for (jobs::Node& node : answer->nodes) {
    if (node.name == name) return std::optional(std::move(node));
  }
  return std::optional<jobs::Node>();
}

}  // namespace

CLI::App* ClusterMembership::add(CLI::App& cluster, const char* name, const char* help) {
  CLI::App* const command = cluster.add_subcommand(name, help);
  add_cluster_options(*command, directory_, timeout_text_, ", administrator.key");
  return command;
}

ClusterMembership::ClusterMembership(CLI::App& cluster, const std::string& footer) {
  admit_ = add(cluster, "admit", "Take a new node into a cluster that runs");
  admit_
      ->add_option("NODE", node_,
                   "NAME=HOST, where other nodes reach it; NAME alone: it gets no\n"
                   "job of several nodes")
      ->required();
  admit_->footer(
      concat("Makes its folder in the directory of the cluster. Copy that to its machine, and\n"
             "run there:  piracema cluster node --home NAME\n\n"
             "Such a node runs jobs; it holds no replica of the control plane.\n\n",
             footer));
  dismiss_ = add(cluster, "dismiss", "Take a node out of the cluster for good");
  dismiss_->add_option("NODE", node_, "Its name")->required();
  dismiss_->add_flag("--now", now_,
                     "Also while it is there: its jobs end, and begin elsewhere after 5 s");
  dismiss_->footer(
      concat("Its key is worth nothing from then on. To let its jobs leave in time: `drain`,\n"
             "then end the node by SIGTERM, then this. What is in its folder stays, but for\n"
             "node.json and node.key.\n\n",
             footer));
}

int ClusterMembership::run() {
  const auto timeout = parse_duration(timeout_text_);
  if (!timeout) return fail_asked({Errc::usage, "--timeout: " + timeout.error().message});
  timeout_ = *timeout;
  auto client = ClusterClient::open(directory_, timeout_);
  if (!client) return fail_asked(client.error());
  // Two at once would give two nodes the same number.
  const auto lock = store::lock_file(directory_ + "/membership.lock", "change of the nodes");
  if (!lock) return fail_asked(lock.error());
  const auto done = admit_->parsed() ? admit(*client) : dismiss(*client);
  return done ? 0 : fail_asked(done.error());
}

Result<Done> ClusterMembership::admit(ClusterClient& client) const {
  const ClusterLayout::Wanted wanted = ClusterLayout::Wanted::parse(node_);
  const auto known = find_node(client, wanted.name);
  if (!known) return known.error();
  if (*known) {
    return Error{Errc::refused,
                 concat("the cluster has a node ", wanted.name, " already: `dismiss` it first")};
  }
  const auto added = ClusterLayout::prepare(directory_, wanted);
  if (!added) return added.error();
  auto administrator = open_administrator(directory_, timeout_);
  if (!administrator) return administrator.error();
  if (auto done = (*administrator)->admit(added->client, added->public_key); !done) return done;
  if (auto done = ClusterLayout::add(directory_, wanted, *added); !done) return done;
  std::printf("made %s/%s. Copy it to its machine, and run there:\n", directory_.c_str(),
              wanted.name.c_str());
  std::printf("  piracema cluster node --home %s\n", wanted.name.c_str());
  return Done{};
}

// Each step may be done once more: what was interrupted is asked for again.
Result<Done> ClusterMembership::dismiss(ClusterClient& client) const {
  if (auto right = jobs::check_name(node_); !right) return right;
  const auto home = NodeHome::read(concat(directory_, "/", node_));
  if (!home) {
    return Error{Errc::config, concat("want the folder of the node in the directory of the "
                                      "cluster, as it was made there: ",
                                      home.error().message)};
  }
  if (home->replica) {
    return Error{Errc::config,
                 concat("the node ", node_, " holds a replica of the control plane: want another ",
                        "one; to replace a replica see piracema kv change")};
  }
  const auto known = find_node(client, node_);
  if (!known) return known.error();
  if (*known && (*known)->alive && !now_) {
    return Error{Errc::refused,
                 concat("the node ", node_, " is there: drain and end it first, or say --now")};
  }
  auto administrator = open_administrator(directory_, timeout_);
  if (!administrator) return administrator.error();
  if (auto done = (*administrator)->dismiss(home->client); !done) return done;
  if (auto lost = wait_until_lost(client, node_); !lost) return lost;
  if (auto forgotten = client.ask(jobs::Forget{node_}); !forgotten) return forgotten.error();
  if (auto done = ClusterLayout::remove(directory_, node_, home->client); !done) return done;
  std::printf("%s is not in the cluster any more\n", node_.c_str());
  return Done{};
}

Result<Done> ClusterMembership::wait_until_lost(ClusterClient& client,
                                                const std::string& node) const {
  const Time until = now() + std::max(timeout_, std::chrono::milliseconds(2 * jobs::lease_ms));
  while (true) {
    const auto known = find_node(client, node);
    if (!known) return known.error();
    if (!*known || !(*known)->alive) return Done{};
    if (now() >= until) {
      return Error{Errc::timeout, concat("the node ", node, " was dismissed, and its lease has ",
                                         "not ended yet: say it again")};
    }
    ::poll(nullptr, 0, leave_look_ms);
  }
}

}  // namespace piracema::tools
