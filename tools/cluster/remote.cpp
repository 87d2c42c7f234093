#include "tools/cluster/remote.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

#include "base/log.h"
#include "base/parse.h"
#include "base/refused_writes.h"
#include "base/text.h"
#include "host/host_names.h"
#include "jobs/local/part_door.h"
#include "jobs/shell/shell_call.h"
#include "jobs/shell/shell_host.h"
#include "loop/poller.h"

namespace piracema::tools {

namespace {

// As ssh has it, for what is not the program's own.
constexpr int no_way_there = 255;
constexpr std::size_t line_bytes_max = 512;
constexpr std::chrono::seconds last_words_within{1};
// What the other end is started with.
constexpr const char* serves = "--serve";

int no_way(const std::string& why) {
  log(Level::error, why);
  return no_way_there;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Of this node, where that one reaches it: a name may mean loopback here. Of a job that gets nodes
/// while it runs they are in a file. Errc::config.
Result<std::string> own_address_for(const std::string& node) {
  std::string text = variable("PIRACEMA_HOSTS");
  if (std::ifstream file(variable("PIRACEMA_HOSTFILE")); file) {
    for (std::string host, slots; file >> host && std::getline(file, slots);) text += "," + host;
  }
  const std::string own = variable("PIRACEMA_NODE");
  std::vector<cluster::HostName> both;
  std::istringstream hosts(text);
  for (std::string host; std::getline(hosts, host, ',');) {
    const std::string name = host.substr(0, host.find('='));
    if (name == own || name == node) both.push_back({host, "PIRACEMA_HOSTS"});
  }
  std::vector<std::size_t> numbers;
  auto found = cluster::find_hosts(both, numbers);
  if (!found) return found.error();
  for (const cluster::HostOptions& host : *found) {
    if (host.here) return host.address;
  }
  return Error{Errc::config, "want a job of several nodes, found none in PIRACEMA_HOSTS"};
}

std::string first_line() {
  std::string line;
  char byte = 0;
  while (line.size() < line_bytes_max && ::read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n') {
    line += byte;
  }
  return line;
}

}  // namespace

ClusterRemote::ClusterRemote(CLI::App& cluster, const std::string& footer) {
  command_ =
      cluster.add_subcommand("rsh", "In a job of several nodes: run something on another of them");
  command_->prefix_command();
  command_->footer(concat(
      "piracema cluster rsh NODE WORDS: a shell there runs the words, as with ssh: with this\n"
      "command's input, output and errors, and it ends with their code, or with 255. They end\n"
      "with it and with the job. A job finds the names of its nodes in PIRACEMA_HOSTS\n"
      "(NAME=ADDRESS,...), and this command in PIRACEMA_RSH.\n\n",
      footer));
}

int ClusterRemote::run() {
  const std::vector<std::string> words = command_->remaining();
  if (words == std::vector<std::string>{serves}) return serve();
  if (words.size() < 2 || words.front().starts_with('-')) {
    log(Level::error, "want a node and what to run there; see piracema cluster rsh --help");
    return 2;
  }
  std::string line;
  for (std::size_t word = 1; word < words.size(); ++word) {
    line += concat(line.empty() ? "" : " ", words[word]);
  }
  return ask(words.front(), line);
}

int ClusterRemote::ask(const std::string& node, const std::string& command) {
  refuse_writes_to_nobody();
  const std::string door = variable("PIRACEMA_NODE_DOOR");
  const auto job = parse_number<jobs::JobId>(variable("PIRACEMA_JOB"));
  const auto attempt = parse_number<std::uint32_t>(variable("PIRACEMA_ATTEMPT"));
  if (door.empty() || !job || !attempt) {
    return no_way("want to be run by a job of a cluster, found no PIRACEMA_JOB");
  }
  const auto own = own_address_for(node);
  if (!own) return no_way(own.error().message);
  net::Poller poller;
  std::optional<int> code;
  auto call = jobs::ShellCall::open(
      poller, *own, command,
      {.ended = [&](const jobs::ShellEnded& ended) { code = static_cast<int>(ended.code); },
       .lost =
           [&](const Error& why) {
             code = no_way(concat("the way to the node ", node, " is lost: ", why.message));
           }});
  if (!call) return no_way(call.error().message);
  const auto asked = jobs::ask_for_part(door, {*job,
                                               *attempt,
                                               node,
                                               {"sh", "-c", concat("exec $PIRACEMA_RSH ", serves)},
                                               (*call)->invitation()});
  if (!asked) return no_way(asked.error().message);
  // Why it cannot be, or is no more, says the node. What it has said itself may still be on its
  // way.
  poller.watch(asked->get(), EPOLLIN, [&](std::uint32_t) {
    poller.forget(asked->get());
    const auto ended = jobs::wait_for_part(*asked);
    const std::string why =
        ended ? concat("on the node ", node, ": ", ended->why) : ended.error().message;
    poller.at((*call)->is_there() ? now() + last_words_within : now(), [&, why] {
      if (!code) code = no_way(why);
    });
  });
  while (!code) poller.run_once(std::chrono::milliseconds(-1));
  poller.forget(asked->get());
  return *code;
}

int ClusterRemote::serve() {
  auto host = jobs::ShellHost::open(first_line());
  if (!host) return no_way(host.error().message);
  const auto code = (*host)->run();
  return code ? *code : no_way(code.error().message);
}

}  // namespace piracema::tools
