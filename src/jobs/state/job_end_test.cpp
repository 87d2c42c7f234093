#include "jobs/state/job_end.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace piracema;
using namespace piracema::jobs;

namespace {

/// A job that runs on the nodes a, b and c.
struct Ending {
  Job job;
  std::map<std::string, Node> nodes;
  History history;

  explicit Ending(const std::vector<std::string>& environment = {}) {
    job.id = 7;
    job.spec.nodes = 3;
    job.spec.environment = environment;
    job.state = JobState::running;
    job.attempt = 1;
    job.node = "a";
    job.others = {"b", "c"};
    for (const char* name : {"a", "b", "c"}) {
      nodes[name].alive = true;
      nodes[name].address = std::string("h-") + name;
    }
  }
  void ends(End end, std::uint32_t code, const std::string& why = "why") {
    command_ended(job, {{job.id, job.attempt, 0}, end, code, why}, nodes, 1'000, history);
  }
  void loses(const std::string& node, const std::string& why = "why") {
    node_lost(job, node, nodes, why, history);
  }
  /// The kinds of what has happened, in its order.
  std::vector<Event::Kind> happened() const {
    std::vector<Event::Kind> kinds;
    for (const Event& event : history.from(1)) kinds.push_back(event.kind);
    return kinds;
  }
};

const std::vector<std::string> stream_of_three{follows_nodes_variable, "PIRACEMA_COORDINATORS=3"};
using Kinds = std::vector<Event::Kind>;

}  // namespace

TEST_CASE("a command that ends well ends its job, once its parts have") {
  Ending end;
  end.ends(End::exited, 0);
  CHECK(end.job.state == JobState::ending);
  CHECK(end.job.next == JobState::done);
  CHECK(end.happened().empty());
}

TEST_CASE("a command that fails begins again as often as was asked for, after a pause") {
  Ending end;
  end.job.spec.retries = 1;
  end.ends(End::exited, 3, "exit code 3");
  CHECK(end.job.next == JobState::waiting);
  CHECK(end.job.failures == 1);
  CHECK(end.job.ended_ms == 1'000);
  CHECK(end.job.why.starts_with("begins again after a pause of "));
  CHECK(end.job.why.ends_with(": exit code 3"));

  end.job.state = JobState::running;
  end.ends(End::exited, 3, "exit code 3");
  CHECK(end.job.next == JobState::failed);
  CHECK(end.job.why == "exit code 3");
  CHECK(end.happened() == Kinds{Event::Kind::job_failed, Event::Kind::job_failed});
}

TEST_CASE("what ends a command that was cancelled is no failure") {
  Ending end;
  end.job.cancelled = true;
  end.ends(End::exited, 143);
  CHECK(end.job.next == JobState::cancelled);
  CHECK(end.happened().empty());
}

TEST_CASE("a command that leaves for a drain waits for another place") {
  Ending end;
  end.ends(End::left, 75);
  CHECK(end.job.next == JobState::waiting);
  CHECK(end.job.failures == 0);
  CHECK(end.job.losses == 0);
}

TEST_CASE("a bad end without one of the nodes is its loss, and no failure of the command") {
  Ending end;
  SUBCASE("the node is gone") { end.nodes.at("b").alive = false; }
  SUBCASE("a part was ended by a node that was not sure of its lease") {
    end.job.parts[1].ended = Ended{{7, 1, 1}, End::fenced, 0, ""};
  }
  end.ends(End::exited, 4);
  CHECK(end.job.next == JobState::waiting);
  CHECK(end.job.failures == 0);
  CHECK(end.job.losses == 1);
  CHECK(end.happened() == Kinds{Event::Kind::job_lost_node});
}

TEST_CASE("a failure that the loss of a node explains later is taken back") {
  Ending end;
  end.ends(End::exited, 4);
  CHECK(end.job.next == JobState::failed);
  end.loses("b", "the node b was lost");
  CHECK(end.job.next == JobState::waiting);
  CHECK(end.job.failures == 0);
  CHECK(end.job.losses == 1);
  CHECK(end.job.why == "the node b was lost");
}

TEST_CASE("a job that loses its first node begins anew, and fails when that has been too often") {
  Ending end;
  end.loses("b");
  CHECK(end.job.state == JobState::running);
  for (std::uint32_t i = 0; i < losses_max; ++i) {
    CHECK(end.job.next != JobState::failed);
    end.job.state = JobState::running;
    end.loses("a", "the node a was lost");
  }
  CHECK(end.job.next == JobState::failed);
  CHECK(end.job.why == "the node a was lost; that was the 20th time that it lost its node");
}

TEST_CASE("a stream with several coordinators goes on with the next node") {
  Ending end(stream_of_three);
  SUBCASE("its first one is lost") { end.loses("a"); }
  SUBCASE("its first one is left") { end.ends(End::left, 75); }
  SUBCASE("its first one was not sure of its lease") { end.ends(End::fenced, 0); }
  CHECK(end.job.state == JobState::running);
  CHECK(end.job.node == "b");
  CHECK(end.job.others == std::vector<std::string>{"c"});
  CHECK(end.job.joins);

  // With it more was lost than it can do without: that loss was counted.
  const std::uint32_t losses = end.job.losses;
  end.ends(End::exited, 4);
  CHECK(end.job.next == JobState::waiting);
  CHECK(end.job.losses == losses);
  CHECK(end.job.failures == 0);
}

TEST_CASE("a stream whose nodes are one machine has one coordinator, and begins anew") {
  Ending end(stream_of_three);
  SUBCASE("all of them") {
    for (auto& [name, node] : end.nodes) node.address = "127.0.0.1";
  }
  SUBCASE("two of them") { end.nodes.at("b").address = end.nodes.at("c").address; }
  end.loses("a");
  CHECK(end.job.state == JobState::ending);
  CHECK(end.job.next == JobState::waiting);
  CHECK_FALSE(end.job.joins);
}

TEST_CASE("a stream goes on with a node whose home is not full, and begins anew if there is none") {
  Ending end(stream_of_three);
  end.nodes.at("b").full = true;
  SUBCASE("its first one is lost") { end.loses("a"); }
  SUBCASE("its first one is left") { end.ends(End::left, 75); }
  SUBCASE("its first one was not sure of its lease") { end.ends(End::fenced, 0); }
  CHECK(end.job.state == JobState::running);
  CHECK(end.job.node == "c");
  CHECK(end.job.others == std::vector<std::string>{"b"});

  end.loses("c");
  CHECK(end.job.state == JobState::ending);
  CHECK(end.job.next == JobState::waiting);
}

TEST_CASE("a stream does without a node that is not its first one") {
  Ending end(stream_of_three);
  end.loses("c");
  CHECK(end.job.state == JobState::running);
  CHECK(end.job.others == std::vector<std::string>{"b"});
  CHECK_FALSE(does_without(end.job, "a"));
  CHECK_FALSE(does_without(end.job, "c"));
  CHECK(end.happened().empty());

  Ending other;
  CHECK_FALSE(does_without(other.job, "b"));
}
