#include "tools/top/screen.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/top/http_client.h"

using namespace piracema;
using namespace piracema::tools;

namespace {

nlohmann::json some_job() {
  return {{"job",
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

TEST_CASE("a screen fits the terminal, and no colour is cut") {
  const std::string screen = screen_of(some_job(), {.columns = 20, .lines = 4, .color = true});
  CHECK(has(screen, "\x1b[1mapp  running  26.3 s\x1b[0m\n"));
  CHECK(std::count(screen.begin(), screen.end(), '\n') == 4);
}

TEST_CASE("what is missing, or of another kind, is left out") {
  CHECK_FALSE(screen_of({}, {}).empty());
  for (const char* text :
       {R"({"job":5,"graph":[],"hosts":"x","failures":null})",
        R"({"job":{"at":"x","read":[],"snapshots":{"last":7}},"graph":{"nodes":[1,null]}})",
        R"({"hosts":{"hosts":[{"workers":[5]},7]},"failures":{"failures":[[],{"losses":[]}]}})",
        R"({"job":{"items":-1e300,"at":1e300}})"}) {
    CAPTURE(text);
    CHECK_FALSE(screen_of(nlohmann::json::parse(text), {}).empty());
  }
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
