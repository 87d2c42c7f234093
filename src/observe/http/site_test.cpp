#include "observe/http/site.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "base/log.h"
#include "observe/page/page_files.h"

using namespace piracema;
using namespace piracema::observe;
using std::chrono::seconds;

namespace {

const std::string token_of_site = "0123456789abcdef";

struct SiteOfJob {
  Board board{JobFacts{.command = {"/bin/app", "</script>"}, .version = "1"}};
  Site site{board, Guard(*net::Address::parse("127.0.0.1:80"), token_of_site, Guard::Readers::all)};

  Response get(const std::string& path) const {
    return site.answer({.method = "GET", .path = path, .host = "localhost"}, seconds(1'000));
  }
  Response post(const std::string& path) const {
    return site.answer({.method = "POST",
                        .path = path,
                        .host = "localhost",
                        .authorization = "Bearer " + token_of_site,
                        .mark = "1"},
                       seconds(1'000));
  }
};

std::string header(const Response& response, const std::string& name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return "";
}

}  // namespace

TEST_CASE("every resource of the interface is JSON, also of a job that nobody has joined yet") {
  const SiteOfJob served;
  for (const char* name :
       {"job", "graph", "replicas", "snapshots", "failures", "hosts", "throughput", "log", "all"}) {
    CAPTURE(name);
    const Response response = served.get(std::string("/api/v1/") + name);
    CHECK(response.code == 200);
    CHECK(nlohmann::json::accept(response.body));
  }
}

TEST_CASE("one resource tells whoever looks from afar how a job is, what it lost and who decides") {
  SiteOfJob served;
  auto running = std::make_shared<JobStatus>();
  running->facts.coordinator = {.host = "n1", .pid = 4711, .since = 1'000.5};
  running->nodes = {{.name = "in", .role = "source", .replicas = 1},
                    {.name = "out", .role = "sink", .replicas = 3}};
  running->nodes[0].work.queued = 2;
  running->nodes[1].work.queued = 5;
  running->failures = {{.losses = {{.who = "worker 0"}}},
                       {.losses = {{.at = seconds(40), .who = "worker 1", .cause = "silent"}},
                        .restore = 6,
                        .redone = 30,
                        .running_at = seconds(41)}};
  served.board.publish(running, seconds(1'000));
  const auto job = nlohmann::json::parse(served.get("/api/v1/job").body);
  CHECK(job["replicas"] == 4);
  CHECK(job["queued"] == 7);
  CHECK(job["coordinator"].dump() == R"({"host":"n1","pid":4711,"since_unix":1000.5})");
  CHECK(job["failure"]["losses"][0]["who"] == "worker 1");
  CHECK(job["failure"]["snapshot"] == 6);
  CHECK(job["failure"]["running_after"] == 1);
  CHECK(job["failure"] ==
        nlohmann::json::parse(served.get("/api/v1/failures").body)["failures"][1]);
}

TEST_CASE("what is not there is said so") {
  const SiteOfJob served;
  CHECK(served.get("/nothing").code == 404);
  CHECK(served.get("/api/v1/").code == 404);
  CHECK(served.get("/../etc/passwd").code == 404);
  CHECK(served.get("/api/v1/stop").code == 405);
  CHECK(served.post("/api/v1/job").code == 404);
}

TEST_CASE("a recovery is healthy but not ready, silence is neither") {
  SiteOfJob served;
  CHECK(served.get("/healthz").code == 200);
  CHECK(served.get("/readyz").code == 503);

  auto running = std::make_shared<JobStatus>();
  running->running = true;
  served.board.publish(running, seconds(999));
  CHECK(served.get("/healthz").code == 200);
  CHECK(served.get("/readyz").code == 200);

  auto restoring = std::make_shared<JobStatus>();
  restoring->phase = "restoring";
  served.board.publish(restoring, seconds(999));
  CHECK(served.get("/healthz").code == 200);
  CHECK(served.get("/readyz").body == "the job is restoring\n");

  served.board.publish(running, seconds(900));
  CHECK(served.get("/healthz").code == 503);
}

TEST_CASE("a job is asked to stop while there is one") {
  SiteOfJob served;
  CHECK(served.post("/api/v1/stop").code == 409);
  int asked = 0;
  served.board.when_asked_to_stop([&] { asked += 1; });
  CHECK(served.post("/api/v1/stop").code == 202);
  CHECK(asked == 1);
  CHECK(served.site.answer({.method = "POST", .path = "/api/v1/stop", .host = "localhost"}, {})
            .code == 403);
  CHECK(served.get("/api/v1/stop").code == 405);
  CHECK(asked == 1);
  served.board.when_asked_to_stop({});
  CHECK(served.post("/api/v1/stop").code == 409);
}

TEST_CASE("a job is asked to scale while there is one, and what it answers is said") {
  SiteOfJob served;
  const auto post = [&served](const std::string& replicas, const std::string& workers) {
    return served.site.answer({.method = "POST",
                               .path = "/api/v1/scale",
                               .host = "localhost",
                               .authorization = "Bearer " + token_of_site,
                               .mark = "1",
                               .replicas = replicas,
                               .workers = workers},
                              seconds(1'000));
  };
  CHECK(post("count=3", "").code == 503);
  cluster::AnswerRequest answer{.accepted = true};
  std::vector<cluster::ScaleRequest> asked;
  served.board.when_asked([&](cluster::UserRequest request, const auto& reply) {
    asked.push_back(std::get<cluster::ScaleRequest>(std::move(request)));
    reply(answer);
  });
  CHECK(post("count=3,a+b=2", "4").code == 202);
  REQUIRE(asked.size() == 1);
  CHECK((asked[0].replicas ==
         std::vector<std::pair<std::string, std::uint32_t>>{{"count", 3}, {"a+b", 2}}));
  CHECK(asked[0].slots == 4);
  CHECK(post("", "4").code == 202);
  answer.done = true;
  CHECK(post("count=3", "").code == 200);
  answer = {.why = "there is no operator \"count\""};
  const Response refused = post("count=3", "");
  CHECK(refused.code == 422);
  CHECK(nlohmann::json::parse(refused.body)["why"] == answer.why);
  answer.later = true;
  CHECK(post("count=3", "").code == 409);
  const std::size_t before = asked.size();
  for (const char* wrong : {"", "count", "count=", "=3", "count=x", "count=3,,", "count=-1"}) {
    CAPTURE(wrong);
    CHECK(post(wrong, "").code == 400);
  }
  CHECK(post("", "four").code == 400);
  CHECK(served.get("/api/v1/scale").code == 405);
  CHECK(asked.size() == before);
  served.board.when_asked({});
  CHECK(post("count=3", "").code == 503);
}

TEST_CASE("a job is asked for a savepoint by a name that can be one") {
  SiteOfJob served;
  const auto post = [&served](const std::string& name) {
    return served.site.answer({.method = "POST",
                               .path = "/api/v1/savepoint",
                               .host = "localhost",
                               .authorization = "Bearer " + token_of_site,
                               .mark = "1",
                               .name = name},
                              seconds(1'000));
  };
  CHECK(post("v1").code == 503);
  cluster::AnswerRequest answer{.accepted = true};
  std::vector<std::string> asked;
  served.board.when_asked([&](const cluster::UserRequest& request, const auto& reply) {
    asked.push_back(std::get<cluster::SavepointRequest>(request).name);
    reply(answer);
  });
  CHECK(post("before-v2.1").code == 202);
  CHECK(asked == std::vector<std::string>{"before-v2.1"});
  answer = {.why = "the job takes no snapshots"};
  CHECK(post("v1").code == 422);
  answer.later = true;
  const Response refused = post("v1");
  CHECK(refused.code == 409);
  CHECK(nlohmann::json::parse(refused.body)["why"] == answer.why);
  const std::size_t before = asked.size();
  for (const char* wrong : {"", "../x", "a b", ".hidden", "x.tmp-1"}) {
    CAPTURE(wrong);
    CHECK(post(wrong).code == 400);
  }
  CHECK(served.get("/api/v1/savepoint").code == 405);
  CHECK(asked.size() == before);
}

TEST_CASE("the token goes from the address into a cookie that scripts and other sites do not get") {
  const SiteOfJob served;
  const auto enter = [&](const std::string& with) {
    return served.site.answer(
        {.method = "GET", .path = "/", .host = "localhost", .argument_token = with}, {});
  };
  const Response right = enter(token_of_site);
  CHECK(right.code == 303);
  CHECK(header(right, "Location") == "/");
  CHECK(header(right, "Set-Cookie") ==
        "piracema_80=" + token_of_site + "; HttpOnly; SameSite=Strict; Path=/");
  CHECK(header(enter("wrong"), "Set-Cookie").empty());
}

TEST_CASE("every answer forbids what is not of this page, refusals too") {
  const SiteOfJob served;
  for (const Response& response :
       {served.get("/"), served.get("/nothing"), served.site.answer({}, {})}) {
    CHECK(header(response, "Content-Security-Policy").starts_with("default-src 'none'"));
    CHECK(header(response, "X-Content-Type-Options") == "nosniff");
    CHECK(header(response, "Cache-Control") == "no-store");
  }
}

TEST_CASE("the page asks nobody but us, and is small") {
  for (const std::string_view file : {page_html, page_common, page_script, page_style}) {
    for (const char* other : {"http://", "https://", "//cdn"}) {
      const std::size_t at = file.find(other);
      // The name of a language is no address that anybody calls.
      CHECK((at == file.npos || file.substr(at).starts_with("http://www.w3.org/2000/svg")));
    }
  }
  CHECK(page_html.size() + page_common.size() + page_script.size() + page_style.size() < 200'000);
}

TEST_CASE("a report is one file, and what is in it cannot end its script") {
  const SiteOfJob served;
  const std::string page = report_page(*served.board.latest());
  CHECK(page.find("src=\"/") == page.npos);
  CHECK(page.find("href=\"/") == page.npos);
  CHECK(page.find("</script>\"") == page.npos);
  CHECK(page.find("\\u003c/script>") != page.npos);
  const std::size_t begin = page.find("id=\"recorded\">") + 14;
  const auto data =
      nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  CHECK(data["job"]["command"][1] == "</script>");
}

TEST_CASE("a job of many replicas is told in parts") {
  SiteOfJob served;
  auto status = std::make_shared<JobStatus>();
  status->nodes = {{.name = "a", .replicas = 1}, {.name = "b", .replicas = 2'500}};
  status->replicas.push_back({.node = 0});
  for (std::uint32_t i = 0; i < 2'500; ++i) status->replicas.push_back({.node = 1, .index = i});
  served.board.publish(status, seconds(1));
  const auto rows = [&](const std::string& node, const std::string& from) {
    return nlohmann::json::parse(served.site
                                     .answer({.method = "GET",
                                              .path = "/api/v1/replicas",
                                              .host = "localhost",
                                              .node = node,
                                              .from = from},
                                             {})
                                     .body);
  };
  CHECK(rows("", "")["replicas"].size() == 1'000);
  CHECK(rows("", "")["count"] == 2'501);
  CHECK(rows("b", "2000")["replicas"].size() == 500);
  CHECK(rows("b", "2000")["replicas"][0]["name"] == "b/2000");
  CHECK(rows("b", "999999999999999999999999")["count"] == 2'500);
  CHECK(rows("nobody", "x")["replicas"].empty());
}
