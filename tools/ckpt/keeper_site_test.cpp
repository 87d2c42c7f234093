#include "tools/ckpt/keeper_site.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "observe/status/status_json.h"

using namespace piracema;
using namespace piracema::tools;
using ckpt::Keeper;
using ckpt::KeeperFigures;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr double unix_now = 1'800'000'000;

/// It has run for 100 s of a window that closes in 50, and was saved once, 20 s ago.
KeeperFigures running() {
  KeeperFigures figures;
  figures.command = {"/opt/bin/solve", "--n", "3"};
  figures.directory = "/var/tmp/job";
  figures.hosts = {"a", "b"};
  figures.began = seconds(900);
  figures.state = Keeper::State::running;
  figures.state_since = seconds(900);
  figures.resident = 4'096;
  figures.processes = 3;
  figures.opened = seconds(900);
  figures.closes = seconds(1'050);
  figures.closes_why = "--for 150s";
  figures.stop_at = seconds(1'040);
  figures.every = seconds(60);
  figures.save_at = seconds(1'020);
  figures.forecast = KeeperFigures::Forecast{1.5, 4, 8};
  figures.planned = seconds(9);
  figures.learnt = 12;
  figures.checkpoints = {{.at = seconds(980),
                          .forecast = {1, 3, 6},
                          .outcome = KeeperFigures::Outcome::saved,
                          .image = 5,
                          .bytes = 2'000,
                          .took = milliseconds(1'250),
                          .frozen = milliseconds(90)},
                         {.at = seconds(990),
                          .outcome = KeeperFigures::Outcome::failed,
                          .took = seconds(1),
                          .why = "no \"room\""}};
  figures.saved = 1;
  figures.failed = 1;
  figures.saved_took = milliseconds(1'250);
  figures.saved_bytes = 2'000;
  figures.over_p50 = 1;
  figures.launched = 1;
  return figures;
}

/// As it is said at second 1000.
std::shared_ptr<const KeeperSight> seen(const KeeperFigures& figures) {
  KeeperBoard board;
  board.show({.at = seconds(998), .free = 70, .size = 100, .images = {{5, 2'000, 1}}});
  board.show(figures, {{unix_now, Level::warning, "a line"}}, seconds(1'000));
  return board.latest();
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != text.npos;
}

/// What the site answers at second `at`, of what it was shown at second 1000.
observe::Response ask(const std::string& path, const KeeperFigures* figures, int at = 1'001) {
  const auto board = std::make_shared<KeeperBoard>();
  if (figures != nullptr) board->show(*figures, {}, seconds(1'000));
  const KeeperSite site(board, observe::Guard(*net::Address::make("127.0.0.1", 8080),
                                              "0123456789abcdef", observe::Guard::Readers::all));
  return site.answer({.method = "GET", .path = path, .host = "127.0.0.1:8080"}, seconds(at));
}

}  // namespace

TEST_CASE("figures have the names that the reference promises") {
  const auto text =
      metrics(*seen(running()), seconds(1'000), unix_now, observe::MetricsFormat::prometheus);
  CHECK(text.find(R"(piracema_ckpt_job_info{program="solve",directory="/var/tmp/job",version=")") !=
        text.npos);
  CHECK(has_line(text, "piracema_ckpt_ready 1"));
  CHECK(has_line(text, R"(piracema_ckpt_state{state="running"} 1)"));
  CHECK(has_line(text, R"(piracema_ckpt_state{state="saving"} 0)"));
  CHECK(has_line(text, "piracema_ckpt_shown_age_seconds 0"));
  CHECK(has_line(text, "piracema_ckpt_hosts 2"));
  CHECK(has_line(text, R"(piracema_ckpt_forecast_seconds{percentile="50"} 1.5)"));
  CHECK(has_line(text, R"(piracema_ckpt_forecast_seconds{percentile="95"} 4)"));
  CHECK(has_line(text, R"(piracema_ckpt_checkpoints_total{outcome="saved"} 1)"));
  CHECK(has_line(text, R"(piracema_ckpt_checkpoints_total{outcome="failed"} 1)"));
  CHECK(has_line(text, R"(piracema_ckpt_checkpoints_over_forecast_total{percentile="50"} 1)"));
  CHECK(has_line(text, R"(piracema_ckpt_checkpoints_over_forecast_total{percentile="95"} 0)"));
  CHECK(has_line(text, "piracema_ckpt_last_checkpoint_age_seconds 20"));
  CHECK(has_line(text, "piracema_ckpt_last_checkpoint_duration_seconds 1.25"));
  CHECK(has_line(text, "piracema_ckpt_last_checkpoint_size_bytes 2000"));
  CHECK(has_line(text, R"(piracema_ckpt_last_checkpoint_forecast_seconds{percentile="95"} 3)"));
  CHECK(has_line(text, "piracema_ckpt_window_closes_timestamp_seconds 1800000050"));
  CHECK(has_line(text, "piracema_ckpt_stop_timestamp_seconds 1800000040"));
  CHECK(has_line(text, "piracema_ckpt_store_free_bytes 70"));
  CHECK(has_line(text, "piracema_ckpt_images 1"));
  CHECK(has_line(text, "piracema_ckpt_images_bytes 2000"));
}

TEST_CASE("what there is not has no figure") {
  KeeperFigures figures;
  KeeperBoard board;
  board.show(figures, {}, seconds(1));
  const auto text =
      metrics(*board.latest(), seconds(1), unix_now, observe::MetricsFormat::openmetrics);
  for (const char* name : {"last_checkpoint", "window_closes", "forecast_seconds", "store_free",
                           "stop_timestamp", "images"}) {
    CHECK_MESSAGE(text.find(std::string("piracema_ckpt_") + name) == text.npos, name);
  }
  CHECK(has_line(text, "piracema_ckpt_ready 0"));
  CHECK(text.ends_with("# EOF\n"));
}

TEST_CASE("the JSON says what is planned and what has happened, the newest first") {
  const auto json = nlohmann::json::parse(keeper_json(*seen(running()), seconds(1'001), unix_now));
  CHECK(json["state"] == "running");
  CHECK(json["ready"] == true);
  CHECK(json["state_for"] == 101);
  CHECK(json["window"]["closes_in"] == 49);
  CHECK(json["window"]["closes_why"] == "--for 150s");
  CHECK(json["stop_in"] == 39);
  CHECK(json["save_in"] == 19);
  CHECK(json["forecast"]["p95"] == 4);
  CHECK(json["forecast"]["planned"] == 9);
  const auto past = json["checkpoints"]["past"];
  REQUIRE(past.size() == 2);
  CHECK(past[0]["outcome"] == "failed");
  CHECK(past[0]["why"] == "no \"room\"");
  CHECK(past[0]["forecast_p50"].is_null());
  CHECK(past[0]["bytes"].is_null());
  CHECK(past[1]["took"] == 1.25);
  CHECK(past[1]["forecast_p50"] == 1);
  CHECK(past[1]["frozen"] == 0.09);
  CHECK(past[1]["at_unix"] == unix_now - 21);
  CHECK(json["store"]["images"][0]["image"] == 5);
  CHECK(json["store"]["free_bytes"] == 70);
  CHECK(json["seen_ago"] == 1);
  const auto log = nlohmann::json::parse(observe::log_json(seen(running())->lines));
  CHECK(log["lines"][0]["text"] == "a line");
  CHECK(log["lines"][0]["level"] == "warning");
}

TEST_CASE("times are as exact as they were measured, and no more exact") {
  KeeperFigures figures = running();
  figures.forecast = KeeperFigures::Forecast{1.0 / 3, 2.0 / 3, 4};
  figures.checkpoints[0].took = std::chrono::nanoseconds(123'456'789);
  const auto text = keeper_json(*seen(figures), seconds(1'001), unix_now);
  CHECK(text.find("\"p50\":0.333333333,\"p95\":0.666666667,") != text.npos);
  CHECK(text.find("\"took\":0.123456789,") != text.npos);
}

TEST_CASE("a window that is waited for, or none, is said so") {
  KeeperFigures figures = running();
  figures.closes.reset();
  auto json = nlohmann::json::parse(keeper_json(*seen(figures), seconds(1'000), unix_now));
  CHECK(json["window"].is_null());
  figures.state = Keeper::State::away;
  figures.opens = seconds(1'300);
  json = nlohmann::json::parse(keeper_json(*seen(figures), seconds(1'000), unix_now));
  CHECK(json["window"]["opens_in"] == 300);
  CHECK(json["ready"] == false);
  CHECK(json["trouble"] == "it waits for its window");
}

TEST_CASE("a job is ready that runs, and a keeper healthy that shows itself") {
  KeeperFigures figures = running();
  CHECK(ask("/readyz", &figures).code == 200);
  CHECK(ask("/healthz", &figures).code == 200);
  figures.paused = true;
  CHECK(ask("/readyz", &figures).code == 503);
  CHECK(ask("/readyz", &figures).body.find("room for its output") != std::string::npos);
  CHECK(ask("/healthz", &figures).code == 200);
  figures.paused = false;
  figures.state = Keeper::State::saving;
  CHECK(ask("/readyz", &figures).code == 200);
  figures.state = Keeper::State::over;
  figures.end = "the job has ended with status 7";
  CHECK(ask("/readyz", &figures).body == "the job has ended with status 7\n");
  CHECK(ask("/healthz", &figures, 1'040).code == 503);
  CHECK(ask("/healthz", nullptr).code == 503);
  CHECK(ask("/api/v1/job", nullptr).code == 503);
}

TEST_CASE("a site says what it has, and changes nothing") {
  const KeeperFigures figures = running();
  for (const char* path :
       {"/", "/ckpt.js", "/style.css", "/metrics", "/api/v1/job", "/api/v1/log"}) {
    CHECK_MESSAGE(ask(path, &figures).code == 200, path);
  }
  CHECK(ask("/nothing", &figures).code == 404);
}
