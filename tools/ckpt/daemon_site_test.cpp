#include "tools/ckpt/daemon_site.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

using namespace piracema;
using namespace piracema::tools;
using ckpt::DaemonFigures;
using std::chrono::seconds;

namespace {

constexpr double unix_now = 1'800'000'000;

/// A machine that is lent for 60 s more: one job runs, one was there before, one cannot be begun.
DaemonFigures lent() {
  DaemonFigures figures;
  figures.host = "lab1";
  figures.queue = "/shared/queue";
  figures.slots = 2;
  figures.began = seconds(100);
  figures.lent = true;
  figures.closes = seconds(1'060);
  figures.jobs = {{.name = "1",
                   .command = {"./app", "x"},
                   .directory = "/jobs/1",
                   .runs = true,
                   .since = seconds(950),
                   .gone_by = seconds(1'060)},
                  {.name = "2", .command = {"./app"}, .stream = true},
                  {.name = "3", .not_before = seconds(1'030), .failures = 2}};
  figures.running = 1;
  figures.waiting = 2;
  figures.left = {{.at = seconds(900),
                   .job = "1",
                   .outcome = ckpt::Outcome::stopped,
                   .ran = seconds(30),
                   .took = seconds(3),
                   .given = seconds(10)}};
  figures.started = 2;
  figures.outcomes = {0, 1, 0, 0};
  return figures;
}

observe::Response ask(const std::string& path, const DaemonFigures* figures, int at = 1'000) {
  const auto board = std::make_shared<DaemonBoard>();
  if (figures != nullptr) board->show({*figures, {}, seconds(1'000)});
  const DaemonSite site(board, observe::Guard(*net::Address::make("127.0.0.1", 8080),
                                              "0123456789abcdef", observe::Guard::Readers::all));
  return site.answer({.method = "GET", .path = path, .host = "127.0.0.1:8080"}, seconds(at));
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != text.npos;
}

}  // namespace

TEST_CASE("figures of a daemon have the names that the reference promises") {
  const auto text = metrics({lent(), {}, seconds(999)}, seconds(1'000), unix_now,
                            observe::MetricsFormat::prometheus);
  CHECK(has_line(text, "piracema_ckpt_daemon_lent 1"));
  CHECK(has_line(text, "piracema_ckpt_daemon_user_present 0"));
  CHECK(has_line(text, "piracema_ckpt_daemon_shown_age_seconds 1"));
  CHECK(has_line(text, "piracema_ckpt_daemon_window_closes_timestamp_seconds 1800000060"));
  CHECK(has_line(text, R"(piracema_ckpt_daemon_jobs{state="running"} 1)"));
  CHECK(has_line(text, R"(piracema_ckpt_daemon_jobs{state="waiting"} 2)"));
  CHECK(has_line(text, R"(piracema_ckpt_daemon_jobs_left_total{outcome="stopped"} 1)"));
  CHECK(has_line(text, "piracema_ckpt_daemon_jobs_started_total 2"));
  CHECK(has_line(text, "piracema_ckpt_daemon_jobs_killed_total 0"));
}

TEST_CASE(
    "the JSON of a daemon says what each job does, and how long the last ones took to leave") {
  const auto json =
      nlohmann::json::parse(daemon_json({lent(), {}, seconds(999)}, seconds(1'000), unix_now));
  CHECK(json["lent"] == true);
  CHECK(json["closes_in"] == 60);
  CHECK(json["idle_in"].is_null());
  const auto jobs = json["jobs"];
  REQUIRE(jobs.size() == 3);
  CHECK(jobs[0]["state"] == "running");
  CHECK(jobs[0]["runs_for"] == 50);
  CHECK(jobs[0]["gone_in"] == 60);
  CHECK(jobs[0]["left_this_window"] == false);
  CHECK(jobs[1]["left_this_window"] == true);
  CHECK(jobs[2]["state"] == "waiting");
  CHECK(jobs[2]["not_before_in"] == 30);
  CHECK(jobs[2]["failures"] == 2);
  CHECK(json["left"][0]["outcome"] == "stopped");
  CHECK(json["left"][0]["took"] == 3);
  CHECK(json["left"][0]["given"] == 10);
  CHECK(json["left"][0]["at_unix"] == unix_now - 100);
  CHECK(json["seen_ago"] == 1);
}

TEST_CASE("a daemon is healthy that shows itself, and ready while its machine is lent") {
  DaemonFigures figures = lent();
  for (const char* path :
       {"/", "/daemon.js", "/metrics", "/api/v1/queue", "/api/v1/log", "/healthz", "/readyz"}) {
    CHECK_MESSAGE(ask(path, &figures).code == 200, path);
  }
  CHECK(ask("/nothing", &figures).code == 404);
  CHECK(ask("/healthz", &figures, 1'020).code == 503);
  CHECK(ask("/healthz", nullptr).code == 503);
  figures.lent = false;
  CHECK(ask("/readyz", &figures).body == "the machine is not lent\n");
  CHECK(ask("/healthz", &figures).code == 200);
}
