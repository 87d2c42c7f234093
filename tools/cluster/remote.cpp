#include "tools/cluster/remote.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "base/log.h"
#include "base/parse.h"
#include "base/text.h"
#include "jobs/part_door.h"

namespace piracema::tools {

namespace {

// As ssh has it, for what is not the program's own.
constexpr int no_way_there = 255;
constexpr std::size_t line_bytes_max = 512;

int no_way(const std::string& why) {
  log(Level::error, why);
  return no_way_there;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string first_line() {
  std::string line;
  char byte = 0;
  while (line.size() < line_bytes_max && ::read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n') {
    line += byte;
  }
  return line + "\n";
}

}  // namespace

ClusterRemote::ClusterRemote(CLI::App& cluster, const std::string& footer) {
  command_ =
      cluster.add_subcommand("rsh", "In a job of several nodes: run something on another of them");
  command_->prefix_command();
  command_->footer(concat(
      "piracema cluster rsh NODE WORDS: a shell there runs the words, as with ssh; the input\n"
      "is empty, and what is written stays in the node's folder, in jobs/. It ends as\n"
      "those do, and those end with it and with the job. A job finds the names of its nodes\n"
      "in PIRACEMA_HOSTS (NAME=ADDRESS,...), and this command in PIRACEMA_RSH.\n\n",
      footer));
}

int ClusterRemote::run() {
  std::vector<std::string> words = command_->remaining();
  if (words.size() < 2 || words.front().starts_with('-')) {
    log(Level::error, "want a node and what to run there; see piracema cluster rsh --help");
    return 2;
  }
  const std::string node = words.front();
  words.erase(words.begin());
  if (!variable("PIRACEMA_AGENT_ON").empty()) {
    std::puts("piracema: started");
    std::fflush(stdout);
    return ask(node, std::move(words), first_line());
  }
  if (words == std::vector<std::string>{"sh"}) {
    // What a stream says to a shell there is that it wants its agent, whose files all nodes have: a
    // shell here finds them, and the agent asks again.
    ::setenv("PIRACEMA_AGENT_ON", node.c_str(), 1);
    ::execlp("sh", "sh", nullptr);
    return no_way(with_errno("sh"));
  }
  std::string line;
  for (const std::string& word : words) line += concat(line.empty() ? "" : " ", word);
  return ask(node, {"sh", "-c", line}, "");
}

int ClusterRemote::ask(const std::string& node, std::vector<std::string> words,
                       std::string input) const {
  const std::string door = variable("PIRACEMA_NODE_DOOR");
  const auto job = parse_number<jobs::JobId>(variable("PIRACEMA_JOB"));
  const auto attempt = parse_number<std::uint32_t>(variable("PIRACEMA_ATTEMPT"));
  if (door.empty() || !job || !attempt) {
    return no_way("want to be run by a job of a cluster, found no PIRACEMA_JOB");
  }
  const auto asked =
      jobs::ask_for_part(door, {*job, *attempt, node, std::move(words), std::move(input)});
  if (!asked) return no_way(asked.error().message);
  const auto ended = jobs::wait_for_part(*asked);
  if (!ended) return no_way(ended.error().message);
  if (ended->code != 0) log(Level::error, concat("on the node ", node, ": ", ended->why));
  return ended->end == jobs::End::exited ? static_cast<int>(ended->code) : no_way_there;
}

}  // namespace piracema::tools
