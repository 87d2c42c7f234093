#include "jobs/state/placement.h"

#include <doctest/doctest.h>

using namespace piracema::jobs;

namespace {

struct JobsAndNodes {
  std::map<JobId, Job> jobs;
  std::map<std::string, Node> nodes;

  void node(const std::string& name, std::uint32_t slots, std::uint32_t used = 0) {
    nodes[name] = {.name = name, .slots = slots, .address = "h", .alive = true, .used = used};
  }
  Job& job(std::uint32_t slots, std::uint32_t count = 1) {
    const JobId id = jobs.size() + 1;
    jobs[id] = {.id = id, .spec = {.nodes = count, .slots = slots}};
    return jobs[id];
  }
  std::string placed() {
    std::string all;
    for (const Placed& one : place(jobs, nodes)) {
      std::string names;
      for (const std::string& node : one.nodes) names += (names.empty() ? "" : "+") + node;
      all += std::to_string(one.job) + "@" + names + " ";
    }
    return all;
  }
};

}  // namespace

TEST_CASE("a job goes where most is free") {
  JobsAndNodes cluster;
  cluster.node("a", 4, 2);
  cluster.node("b", 4, 1);
  cluster.job(1);
  cluster.job(2);
  CHECK(cluster.placed() == "1@b 2@a ");
}

TEST_CASE("a job that waits for much is not passed by on the node that it waits for") {
  JobsAndNodes cluster;
  cluster.node("a", 4, 2);
  cluster.node("b", 1);
  cluster.job(4);
  cluster.job(2);
  cluster.job(1);
  CHECK(cluster.placed() == "3@b ");
  CHECK(cluster.jobs[1].why == "waits for 4 slots: a has 2 of 4 free, and is kept for it");
  CHECK(cluster.jobs[2].why == "waits for jobs that were there before it");
}

TEST_CASE("what can run nowhere says why, and stands in nobody's way") {
  JobsAndNodes cluster;
  CHECK(cluster.placed().empty());
  cluster.job(8);
  CHECK(cluster.placed().empty());
  CHECK(cluster.jobs[1].why == "waits for a node: there is none");
  cluster.node("a", 4);
  cluster.job(1).spec.node = "z";
  cluster.job(1);
  CHECK(cluster.placed() == "3@a ");
  CHECK(cluster.jobs[1].why == "waits for a node of 8 slots: the largest is a with 4");
  CHECK(cluster.jobs[2].why == "waits for the node z, which is not in the cluster");
}

TEST_CASE("nothing is placed on a node that drains, leaves or is not heard of") {
  JobsAndNodes cluster;
  cluster.node("a", 4);
  cluster.nodes["a"].draining = true;
  cluster.node("b", 4);
  cluster.nodes["b"].leaving = true;
  cluster.node("c", 4);
  cluster.nodes["c"].alive = false;
  cluster.job(1);
  CHECK(cluster.placed().empty());
  CHECK(cluster.jobs[1].why == "waits for a node of 1 slot that is there: a is draining");
}

TEST_CASE("nothing is placed on a node whose home is full") {
  JobsAndNodes cluster;
  for (const char* name : {"a", "b"}) cluster.node(name, 4);
  cluster.node("c", 4, 2);
  cluster.nodes["c"].full = true;
  cluster.job(1);
  cluster.job(2, 3);
  Job& runs = cluster.job(1, 3);
  runs.spec.environment = {follows_nodes_variable};
  runs.state = JobState::running;
  runs.node = "a";
  runs.others = {"b"};
  cluster.job(1).spec.node = "c";
  CHECK(cluster.placed() == "1@a ");
  CHECK(cluster.jobs[2].why ==
        "waits for 3 nodes of 2 slots that are there: there are 2, 1 with a full home");
  CHECK(cluster.jobs[3].why == "runs on 2 of 3 nodes, and waits for 1 slot of another one");
  CHECK(cluster.jobs[4].why ==
        "waits for a node of 1 slot that is there: c has no room in its home");
  cluster.nodes["c"].full = false;
  CHECK(cluster.placed() == "3@c 1@a ");
}

TEST_CASE("a job of several nodes gets all of them at once, or none") {
  JobsAndNodes cluster;
  cluster.node("a", 4, 1);
  cluster.node("b", 4);
  cluster.node("c", 2);
  cluster.job(2, 3);
  CHECK(cluster.placed() == "1@b+a+c ");
  cluster.node("c", 2, 1);
  CHECK(cluster.placed().empty());
  CHECK(cluster.jobs[1].why ==
        "waits for 2 slots of each of 3 nodes: c has 1 of 2 free, and 3 nodes are kept for it");
}

TEST_CASE("a job that waits for several nodes is not passed by on those, but elsewhere") {
  JobsAndNodes cluster;
  cluster.node("a", 4, 4);
  cluster.node("b", 4, 3);
  cluster.node("c", 1);
  cluster.job(2, 2);
  cluster.job(1);
  cluster.job(1);
  CHECK(cluster.placed() == "2@c ");
  CHECK(cluster.jobs[3].why == "waits for 1 slot: c has 0 of 1 free, and is kept for it");
}

TEST_CASE("more nodes than there are is what a job waits for") {
  JobsAndNodes cluster;
  cluster.node("a", 4);
  cluster.node("b", 1);
  cluster.node("c", 4);
  cluster.nodes["c"].draining = true;
  cluster.node("d", 4);
  cluster.nodes["d"].address = "";
  cluster.job(2, 3);
  cluster.job(4);
  CHECK(cluster.placed() == "2@a ");
  CHECK(cluster.jobs[1].why ==
        "waits for 3 nodes of 2 slots that are there: there is 1, 1 not heard of or draining, "
        "1 smaller, 1 without an address");
}

TEST_CASE("a job that runs and has lost a node gets another one before any job begins") {
  JobsAndNodes cluster;
  for (const char* name : {"a", "b", "c"}) cluster.node(name, 2, 2);
  Job& runs = cluster.job(2, 3);
  runs.spec.environment = {follows_nodes_variable};
  runs.state = JobState::running;
  runs.node = "a";
  runs.others = {"c"};
  cluster.job(2);
  CHECK(cluster.placed().empty());
  CHECK(cluster.jobs[1].why == "runs on 2 of 3 nodes, and waits for 2 slots of another one");
  cluster.node("b", 2);
  SUBCASE("which is free") {
    CHECK(cluster.placed() == "1@b ");
    CHECK(cluster.jobs[1].why.empty());
  }
  SUBCASE("but not one where a part of it has yet to end") {
    cluster.jobs[1].parts[1] = {.node = "b"};
    CHECK(cluster.placed() == "2@b ");
  }
  SUBCASE("but not if its command does not follow its nodes") {
    cluster.jobs[1].spec.environment.clear();
    CHECK(cluster.placed() == "2@b ");
  }
}

TEST_CASE("of two nodes with as much free, a job goes where it may stay for longer") {
  JobsAndNodes cluster;
  cluster.node("a", 4);
  cluster.nodes["a"].closes_ms = 60'000;
  cluster.node("b", 4);
  cluster.nodes["b"].closes_ms = 3'600'000;
  cluster.job(1);
  CHECK(cluster.placed() == "1@b ");
  cluster.node("c", 4);
  CHECK(cluster.placed() == "1@c ");
  cluster.node("c", 4, 1);
  CHECK(cluster.placed() == "1@b ");
}

TEST_CASE("a job that wants its machines to be alike gets those of one kind") {
  JobsAndNodes cluster;
  for (const char* name : {"a", "b", "c", "d"}) {
    cluster.node(name, 4);
    cluster.nodes[name].kind = name[0] % 2 == 0 ? "new" : "old";
  }
  Job& job = cluster.job(1, 2);
  SUBCASE("of those that can take it now") {
    CHECK(cluster.placed() == "1@a+b ");
    job.spec.environment = {wants_alike_variable};
    CHECK(cluster.placed() == "1@b+d ");
    cluster.nodes["d"].used = 4;
    CHECK(cluster.placed() == "1@a+c ");
  }
  SUBCASE("and waits where most of them are, if it has to") {
    job.spec.environment = {wants_alike_variable};
    cluster.nodes["d"].alive = false;
    cluster.nodes["a"].used = 4;
    cluster.job(1);
    CHECK(cluster.placed() == "2@b ");
    CHECK(job.why ==
          "waits for 1 slot of each of 2 nodes: a has 0 of 4 free, and 2 nodes are kept for it");
    cluster.nodes["a"].alive = false;
    CHECK(cluster.placed() == "2@b ");
    CHECK(job.why ==
          "waits for 2 nodes of 1 slot that are there, and alike: there is 1, 1 of another kind, "
          "2 not heard of or draining");
  }
  SUBCASE("and goes on where it was like that when it began") {
    job.spec.environment = {wants_alike_variable};
    job.kind = "old";
    CHECK(cluster.placed() == "1@a+c ");
    cluster.nodes["a"].draining = true;
    CHECK(cluster.placed().empty());
    CHECK(job.why ==
          "waits for 2 nodes of 1 slot that are there, and alike: there is 1, 2 of another kind, "
          "1 not heard of or draining");
  }
}

TEST_CASE("a job on one node whose kind is gone says which one that was") {
  JobsAndNodes cluster;
  cluster.node("a", 4);
  cluster.nodes["a"].kind = "new";
  cluster.node("b", 4);
  cluster.nodes["b"].kind = "old";
  cluster.nodes["b"].draining = true;
  Job& job = cluster.job(1);
  job.spec.environment = {wants_alike_variable};
  job.kind = "old";
  CHECK(cluster.placed().empty());
  CHECK(job.why == "waits for a node of 1 slot that is there: b is draining");
  cluster.nodes.erase("b");
  CHECK(cluster.placed().empty());
  CHECK(job.why == "waits for a node like those that it ran on (old): there is none");
}

TEST_CASE("a job of several nodes begins on one site if it can at once, else on several") {
  JobsAndNodes cluster;
  for (const char* name : {"a", "b", "c", "d"}) {
    cluster.node(name, 4);
    cluster.nodes[name].site = name[0] < 'c' ? "east" : "west";
  }
  cluster.nodes["a"].used = 1;
  cluster.node("c", 4, 2);
  cluster.nodes["c"].site = "west";
  Job& job = cluster.job(2, 2);
  CHECK(cluster.placed() == "1@b+a ");
  cluster.nodes["a"].used = 4;
  CHECK(cluster.placed() == "1@d+c ");
  cluster.nodes["c"].used = 3;
  CHECK(cluster.placed() == "1@b+d ");
  cluster.nodes["a"].used = 1;
  SUBCASE("a stream that follows its nodes is placed where most is free") {
    job.spec.environment = {follows_nodes_variable};
    CHECK(cluster.placed() == "1@b+d ");
  }
  SUBCASE("and all of one kind, if it wants that") {
    job.spec.environment = {wants_alike_variable};
    cluster.nodes["b"].kind = "new";
    cluster.nodes["d"].kind = "new";
    CHECK(cluster.placed() == "1@b+d ");
  }
  SUBCASE("one that needs more than a site has is on both") {
    job.spec.nodes = 3;
    cluster.nodes["c"].used = 0;
    CHECK(cluster.placed() == "1@b+c+d ");
  }
}
