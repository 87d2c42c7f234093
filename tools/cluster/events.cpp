#include "tools/cluster/events.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "base/clock.h"
#include "base/parse.h"
#include "base/text.h"
#include "forecast/window/lent_calendar.h"
#include "tools/cluster/view.h"
#include "tools/failure.h"
#include "tools/terminal_text.h"

namespace piracema::tools {

namespace {

using jobs::Event;

/// The group's clock has its origin anywhere; ours is what people know.
std::string wall_time(const Event& event, std::uint64_t now_ms) {
  return ckpt::wall_text(now() - std::chrono::milliseconds(ago_ms(event.at_ms, now_ms)),
                         "%Y-%m-%d %H:%M:%S");
}

std::string sentence(const Event& event) {
  using enum Event::Kind;
  const std::string node = concat("the node ", event.node);
  const std::string job = concat("job ", event.job, " of ", event.user);
  switch (event.kind) {
    case node_joined:
      return concat(node, " is there");
    case node_lost:
      return concat(node, " was lost");
    case node_returned:
      return concat(node, " is heard of again");
    case node_left:
      return concat(node, " has ended");
    case node_drains:
      return concat(node, " drains");
    case node_undrained:
      return concat(node, " takes jobs again");
    case node_closed:
      return concat(node, " is not lent any more");
    case node_opened:
      return concat(node, " is lent");
    case node_forgotten:
      return concat(node, " was dismissed");
    case job_lost_node:
      return concat(job, " lost its node ", event.node);
    case job_moves:
      return concat(job, " leaves the node ", event.node);
    case job_failed:
      return concat(job, " failed on the node ", event.node);
    case job_began_again:
      return concat(job, " began on the node ", event.node, ", attempt ", event.attempt);
    case job_over:
      return concat(job, " is over, and not done");
    case user_put:
      return concat("the user ", event.user, " was added or changed");
    case user_dropped:
      return concat("the user ", event.user, " was removed");
    case node_full:
      return concat("the home of ", node, " has no room: no job begins there, and what runs stays");
    case job_suspended:
      return concat(job, " stands still on the node ", event.node);
    case job_resumed:
      return concat(job, " goes on, on the node ", event.node);
    case node_has_room:
      return concat("the home of ", node, " has room again");
  }
  return "something that this version does not know";
}

}  // namespace

std::string text_of(const Event& event) {
  return concat(sentence(event), event.why.empty() ? "" : ": ", event.why);
}

nlohmann::ordered_json json_of(const Event& event, std::uint64_t now_ms) {
  nlohmann::ordered_json object{{"event", name_of(event.kind)},
                                {"number", event.number},
                                {"ago_ms", ago_ms(event.at_ms, now_ms)},
                                {"text", text_of(event)}};
  if (!event.node.empty()) object["node"] = event.node;
  if (event.job != 0) object["job"] = event.job;
  if (event.attempt != 0) object["attempt"] = event.attempt;
  if (!event.user.empty()) object["user"] = event.user;
  if (!event.why.empty()) object["why"] = event.why;
  return object;
}

ClusterEvents::ClusterEvents(CLI::App& cluster, const std::string& footer) {
  events_ = cluster.add_subcommand("events", "List what has happened, and is not the rule");
  add_cluster_options(*events_, directory_, timeout_);
  events_->add_flag("-f,--follow", follow_, "Go on as it happens, until Ctrl-C");
  events_->add_flag("--json", json_, "One JSON object for each");
  events_->footer(concat(
      "Nodes that come, are lost, drain, are lent or full; jobs that lose their node, stand\n"
      "still while a user is there, fail, begin again or are cancelled; users that come, go\n"
      "or change. The last 1,000.\n\n",
      footer));
}

int ClusterEvents::run() const {
  const auto timeout = parse_duration(timeout_);
  if (!timeout) return fail_asked({Errc::usage, "--timeout: " + timeout.error().message});
  auto client = ClusterClient::open(directory_, *timeout);
  if (!client) return fail_asked(client.error());
  const auto done = print_from(*client, 0);
  return done ? 0 : fail_asked(done.error());
}

Result<Done> ClusterEvents::print_from(ClusterClient& client, std::uint64_t from) const {
  std::uint64_t now_ms = 0;
  for (bool waits = false;;) {
    const auto answer =
        waits ? client.await(jobs::AwaitEvents{from, now_ms}) : client.ask(jobs::ListEvents{from});
    if (!answer) return answer.error();
    print_all(*answer);
    if (!answer->events.empty()) from = answer->events.back().number + 1;
    now_ms = std::max(now_ms, answer->now_ms);
    if (answer->next != 0) continue;
    if (!follow_) return Done{};
    waits = true;
  }
}

void ClusterEvents::print_all(const jobs::Answer& answer) const {
  for (const Event& event : answer.events) {
    if (json_) {
      print(json_of(event, answer.now_ms));
    } else {
      std::printf("%s  %s\n", wall_time(event, answer.now_ms).c_str(),
                  terminal_text(text_of(event)).c_str());
    }
  }
  std::fflush(stdout);
}

}  // namespace piracema::tools
