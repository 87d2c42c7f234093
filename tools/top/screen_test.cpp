#include "tools/top/screen.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/top/http_client.h"

using namespace piracema;
using namespace piracema::tools;

namespace {

nlohmann::json some_job() {
  return {{"kind", "stream"},
          {"job",
           {{"program", "app"},
            {"phase", "running"},
            {"at", 26.3},
            {"epoch", 2},
            {"workers", 2},
            {"read", 0.3},
            {"items", 23'700},
            {"items_in_per_second", 912.0},
            {"items_out_per_second", 1'234.0},
            {"bottleneck", "work holds the job back"},
            {"snapshots",
             {{"failed", 0},
              {"last", {{"snapshot", 87}, {"at", 26.2}, {"bytes", 71}, {"took", 0.017}}}}}}},
          {"graph",
           {{"nodes",
             {{{"name", "work"}, {"replicas", 3}, {"busy_share", 0.5}, {"blocked_share", 0.25}}}}}},
          {"hosts",
           {{"hosts",
             {{{"name", "h1"},
               {"state", "draining"},
               {"workers",
                {{{"worker", 0},
                  {"pid", 4711},
                  {"joined", true},
                  {"cpu", 1.5},
                  {"replicas", "work/0"}}}}},
              {{"name", "h2"}, {"state", "lost"}, {"workers", nlohmann::json::array()}}}}}},
          {"failures",
           {{"failures",
             {{{"noticed_at", 1.77},
               {"losses", {{{"who", "worker 1"}, {"replicas", "work/1"}, {"how", "killed"}}}},
               {"items_redone", 229},
               {"running_after", 0.0066}}}}}}};
}

bool has(const std::string& screen, const std::string& words) {
  return screen.find(words) != screen.npos;
}

}  // namespace

TEST_CASE("a screen says what the job does, who holds it back and what it went through") {
  const std::string screen = screen_of(some_job(), {});
  CAPTURE(screen);
  CHECK(has(screen, "app  running  26.3 s  epoch 2  2 processes\n"));
  CHECK(has(screen, "30 % read, 912/s from the sources, 1.23 k/s into the sinks, 23.7 k items\n"));
  CHECK(has(screen, "snapshot 87: 71 B in 17 ms, 100 ms ago; 0 failed\n"));
  CHECK(has(screen, "bottleneck: work holds the job back\n"));
  CHECK(has(screen, "######===..."));
  CHECK(has(screen, "h1 (draining)  in the job"));
  CHECK(has(screen, "h2             host lost"));
  CHECK(has(screen,
            "at 1.77 s: worker 1 (work/1): killed; running again after 7 ms, 229 items redone\n"));
  CHECK_FALSE(has(screen, "\x1b"));
}

TEST_CASE("a screen says how far event time has come, if there is any") {
  auto job = some_job();
  CHECK_FALSE(has(screen_of(job, {}), "EVENT TIME"));
  job["graph"]["nodes"].push_back(
      {{"name", "windows"}, {"event_time_unix", 1'779'000'007.25}, {"items_late", 12}});
  const std::string screen = screen_of(job, {.columns = 200});
  CAPTURE(screen);
  CHECK(has(screen, "EVENT TIME"));
  CHECK(has(screen, "2026-05-17 06:40:07"));
}

TEST_CASE("a screen fits the terminal, and no colour is cut") {
  const std::string screen = screen_of(some_job(), {.columns = 20, .lines = 4, .color = true});
  CHECK(has(screen, "\x1b[1mapp  running  26.3 s\x1b[0m\n"));
  CHECK(std::count(screen.begin(), screen.end(), '\n') == 4);
}

TEST_CASE("an MPI job has its calls, what was gained, its links and its tree") {
  const std::string screen = screen_of(nlohmann::json::parse(R"({"kind": "coll", "job": {
      "command": ["/opt/bin/mpirun", "-n", "4", "./solve"], "state": "running", "ready": true,
      "trouble": "", "job": {
        "engine": "auto", "ranks": 4, "hosts": ["h1", "h2"], "ran": 60.0, "gained": 0.95,
        "pairs": 6, "pairs_measured": 5, "calls": {"of_rank_0": 160, "ours": 100, "by_class": [
          {"call": "broadcast", "bytes_max": 1024, "ours": 90, "native": 4, "ours_took": 0.4,
           "native_took": 0.06, "gained": 0.95, "go": "trees"},
          {"call": "barrier", "bytes_max": null, "ours": 0, "native": 40, "ours_took": 0.0,
           "native_took": 0.5, "gained": null, "go": "native"}]},
        "links": [{"rank": 1, "latency": 0.00005, "error": 0.000001, "rate_to": 1e9,
                   "rate_from": null, "age": 0.25},
                  {"rank": 2, "latency": null, "age": null}],
        "trees": [{"bytes": 1024, "expected": 0.0201, "binomial": 0.0402,
                   "parents": [-1, 0, 1, 0], "latencies": [null, 0.00005, 0.02, 0.0201]}],
        "mst": null, "remarks": ["6 calls were not looked at."]}}})"),
                                       {});
  CAPTURE(screen);
  CHECK(has(screen, "mpirun  running  1 min 0 s  engine auto  4 ranks on 2 hosts\n"));
  CHECK(has(screen, "/opt/bin/mpirun -n 4 ./solve\n"));
  CHECK(has(screen, "160 calls of rank 0, 100 along trees; 5 of 6 links measured\n"));
  CHECK(has(screen, "gained 950 ms against native calls, as measured\n"));
  CHECK(has(screen, "broadcast  1 KiB    90  4.44 ms       4  15.0 ms  950 ms  trees\n"));
  CHECK(has(screen, "barrier     more     0        -      40  12.5 ms       -  native\n"));
  CHECK(has(screen, "1    50 us    1 us  1.00 GB/s          -  250 ms ago\n"));
  CHECK(has(screen, "20.1 ms expected, 40.2 ms along a binomial tree\n"));
  CHECK(has(screen, "\n0\n  1  50 us\n    2  20.0 ms\n  3  20.1 ms\n"));
  CHECK(has(screen, "6 calls were not looked at.\n"));
}

TEST_CASE("an MPI job that has not begun, or whose rank 0 is silent, says so") {
  nlohmann::json all = {{"kind", "coll"},
                        {"job",
                         {{"command", {"mpirun"}},
                          {"state", "starting"},
                          {"ready", false},
                          {"trouble", "no rank has called MPI_Init"},
                          {"job", nullptr}}}};
  CHECK(screen_of(all, {}) == "mpirun  starting  \nmpirun\nno rank has called MPI_Init\n");
  all["job"]["state"] = "running";
  CHECK(has(screen_of(all, {}), "mpirun  silent"));
}

TEST_CASE("a job that can be saved has its window, its checkpoints and its room") {
  const std::string screen = screen_of(nlohmann::json::parse(R"({"kind": "ckpt", "job": {
      "command": ["/opt/bin/solve", "3"], "directory": "/var/tmp/job", "state": "running",
      "state_for": 100.0, "trouble": "", "processes": 3, "resident_bytes": 4096,
      "window": {"closes_in": 50.0, "closes_why": "--for 150s"}, "save_in": 20.0, "stop_in": 40.0,
      "forecast": {"p50": 1.5, "p95": 4.0},
      "checkpoints": {"saved": 1, "failed": 1, "given_up": 0, "past": [
        {"ago": 10.0, "outcome": "failed", "tries": 2, "took": 1.0, "why": "no room"},
        {"ago": 20.0, "outcome": "saved", "tries": 1, "took": 1.25, "forecast_p50": 1.0,
         "forecast_p95": 3.0, "frozen": 0.09, "image": 5, "bytes": 2000, "why": ""}]},
      "launches": {"launched": 1, "failed": 0}, "troubles": [{"text": "the disk is slow"}],
      "store": {"free_bytes": 70, "size_bytes": 100, "images": [{"bytes": 2000}]}, "seen_ago": 0.5}})"),
                                       {});
  CAPTURE(screen);
  CHECK(has(screen, "solve  running  1 min 40 s  3 processes, 4.10 kB of memory\n"));
  CHECK(has(screen, "the window closes in 50.0 s (--for 150s)\n"));
  CHECK(has(screen, "next checkpoint in 20.0 s; it would take 1.50 s, p95 4.00 s\n"));
  CHECK(has(screen, "checkpoints: 1 saved, 1 failed, 0 given up; launches: 1, 0 failed\n"));
  CHECK(has(screen, "images: 1, 2.00 kB in /var/tmp/job; room 70 B of 100 B\n"));
  CHECK(has(screen, "failed, 2 tries: no room\n"));
  CHECK(has(screen, "20.0 s ago  1.25 s    1.00 s  3.00 s  90.0 ms      5  2.00 kB  saved\n"));
  CHECK(has(screen, "the disk is slow\n"));
}

TEST_CASE("a queue has its jobs and those that have left") {
  const std::string screen = screen_of(nlohmann::json::parse(R"({"kind": "ckpt_queue", "queue": {
      "host": "h1", "lent": true, "closes_in": null, "slots": 2, "running": 1, "waiting": 1,
      "jobs": [{"job": "1", "state": "leaving", "runs_for": 30.0, "gone_in": 5.0,
                "command": ["solve", "3"]},
               {"job": "2", "state": "waiting", "left_this_window": true, "command": ["sh"]}],
      "started": 3, "killed": 0,
      "outcomes": {"ended": 1, "stopped": 1, "died": 0, "failed": 0},
      "left": [{"job": "0", "outcome": "stopped", "ran": 12.0, "took": 0.5, "given": 60.0}],
      "seen_ago": 20.0}})"),
                                       {});
  CAPTURE(screen);
  CHECK(has(screen, "queue on h1  lent  1 of 2 running, 1 waiting\n"));
  CHECK(has(screen, "the daemon has shown nothing for 20.0 s\n"));
  CHECK(has(screen, "1    leaving  for 30.0 s, gone in 5.00 s  solve 3\n"));
  CHECK(has(screen, "2    waiting  in the next window          sh\n"));
  CHECK(has(screen, "0     12.0 s  500 ms  1 min 0 s  stopped\n"));
}

TEST_CASE("a replica has its leader, its operations and its members") {
  const std::string screen = screen_of(nlohmann::json::parse(R"({"kind": "kv", "replica": {
      "id": 1, "group": "locks", "takes_part": true, "trouble": "", "leads": false, "leader": 0,
      "leader_for": 30.0, "leader_changes": 2, "here": 2, "ordered_per_second": 1234.5,
      "reads_per_second": 10.0, "waiting": 3, "clients": 4,
      "checkpoints": {"last": {"age": 5.0, "took": 0.0012, "bytes": 71}},
      "members": [{"id": 0, "address": "h1:7000", "connected": true, "leads": true, "behind": 0},
                  {"id": 1, "address": "h2:7000", "connected": false, "behind": null}]}})"),
                                       {});
  CAPTURE(screen);
  CHECK(has(screen, "replica 1 of locks  follows 0  30.0 s  2 of 2 members here\n"));
  CHECK(has(screen, "1.23 k/s ordered, 10/s reads, 3 wait; 4 clients; 2 changes of the leader\n"));
  CHECK(has(screen, "checkpoint 5.00 s ago: 71 B in 1.20 ms\n"));
  CHECK(has(screen, "     0       0          leads  h1:7000\n"));
  CHECK(has(screen, "     1       -  not connected  h2:7000\n"));
}

TEST_CASE("a cluster has its control plane, its nodes, its jobs and what has happened") {
  const std::string screen = screen_of(nlohmann::json::parse(R"({"kind": "cluster", "cluster": {
      "goes_on": true, "wanted": 2, "here": 2,
      "replicas": [{"id": 0, "address": "h1:7", "leads": true, "decided": 5, "silent": []},
                   {"id": 1, "address": "h2:7", "trouble": "does not answer"}],
      "nodes": [{"node": "n1", "state": "here", "slots": 4, "used": 2, "heard_ago_ms": 400, "lent": ""},
                {"node": "n2", "state": "here", "slots": 8, "used": 0, "heard_ago_ms": 100,
                 "lent": "lent until 06:00:00"}],
      "jobs": [{"job": 7, "name": "tally", "user": "bob", "state": "running", "node": "n1",
                "others": ["n2"], "stream": {"known": true, "items_in_per_second": 3000.0,
                "items_out_per_second": 2900.0, "queued": 2, "bottleneck": "sink holds it back"}},
               {"job": 8, "name": "sim", "user": "bob", "state": "waiting", "why": "waits for 2 slots"},
               {"job": 6, "name": "gone", "user": "bob", "state": "done"}],
      "events": [{"event": "node_lost", "number": 1, "ago_ms": 61000, "text": "the node n3 was lost"}]
      }})"),
                                       {});
  CAPTURE(screen);
  CHECK(has(screen, "cluster  goes on  2 of 2 replicas of the control plane here\n"));
  CHECK(has(screen, "h1:7 leads\n"));
  CHECK(has(screen, "h2:7: does not answer\n"));
  CHECK(has(screen, "here, lent until 06:00:00\n"));
  CHECK(has(screen, "n1 +1"));
  CHECK(has(screen, "3.00 k/s in, 2.90 k/s out, 2 wait; sink holds it back\n"));
  CHECK(has(screen, "waits for 2 slots\n"));
  CHECK_FALSE(has(screen, "gone"));
  CHECK(has(screen, "the node n3 was lost\n"));
}

TEST_CASE("what is missing, or of another kind, is left out") {
  CHECK(screen_of({}, {}).empty());
  CHECK(noun_of({{"kind", "of another version"}}).empty());
  for (const char* kind : {"stream", "coll", "ckpt", "ckpt_queue", "kv", "cluster"}) {
    for (
        const char* text :
        {R"({"job":5,"graph":[],"hosts":"x","failures":null,"queue":1,"replica":""})",
         R"({"job":{"at":"x","read":[],"snapshots":{"last":7}},"graph":{"nodes":[1,null]}})",
         R"({"hosts":{"hosts":[{"workers":[5]},7]},"failures":{"failures":[[],{"losses":[]}]}})",
         R"({"job":{"items":-1e300,"at":1e300,"ran":1e300,"state_for":-1e300}})",
         R"({"job":{"command":"x","ready":1,"job":{"calls":[],"links":[7],"trees":[{}],"mst":2}}})",
         R"({"job":{"job":{"trees":[{"parents":[1,0,-1,99,null,"x"],"latencies":{}}]}}})",
         R"({"job":{"checkpoints":{"past":[{"ago":[]},5]},"store":[],"window":1,"troubles":[1]}})",
         R"({"queue":{"jobs":[1,{"command":[1,null]}],"left":{},"outcomes":[]}})",
         R"({"cluster":{"replicas":[1],"nodes":{},"jobs":[{"others":1,"stream":[]}],"events":[7]}})",
         R"({"replica":{"members":{"a":1},"checkpoints":{"last":"x"},"pieces_of":1e300}})"}) {
      CAPTURE(text);
      auto all = nlohmann::json::parse(text);
      all["kind"] = kind;
      CHECK_FALSE(screen_of(all, {}).empty());
    }
  }
}

TEST_CASE("a tree that goes round, or that is a long chain, comes to an end") {
  nlohmann::json chain = nlohmann::json::array({-1});
  for (int rank = 1; rank < 10'000; ++rank) chain.push_back(rank - 1);
  const auto of = [](const nlohmann::json& parents) {
    return screen_of({{"kind", "coll"}, {"job", {{"job", {{"trees", {{{"parents", parents}}}}}}}}},
                     {});
  };
  CHECK(has(of(chain), "\n...\n"));
  CHECK(has(of(nlohmann::json::array({-1, 2, 1})), "\n0\n"));
}

TEST_CASE("no name can move the cursor") {
  auto job = some_job();
  job["job"]["program"] = "a\x1b[2Jb\n\xc2\x9b";
  CHECK(has(screen_of(job, {}), "a [2Jb     running"));
}

TEST_CASE("a job's address is a port, an address, or what the command has printed") {
  CHECK(parse_job_address("8080")->host_port == "127.0.0.1:8080");
  CHECK(parse_job_address("node7:8080")->host_port == "node7:8080");
  const auto whole = parse_job_address("http://[::1]:80/?token=abc&x=1");
  CHECK(whole->host_port == "[::1]:80");
  CHECK(whole->token == "abc");
  for (const char* wrong :
       {"", "http://", "node7", "127.0.0.1", "99999999", "1:2?token=a\r\nX: y"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_job_address(wrong));
  }
}
