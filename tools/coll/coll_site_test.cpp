#include "tools/coll/coll_site.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "coll/figures/testing.h"

using namespace piracema;
using namespace piracema::tools;
using coll::JobFigures;
using coll::testing::figures_of_four;
using nlohmann::json;
using std::chrono::seconds;

namespace {

constexpr double unix_now = 1'800'000'000;

/// Started at second 990, and, if there are figures, shown at second 1000.
std::shared_ptr<CollBoard> board_of(const JobFigures* figures) {
  auto board = std::make_shared<CollBoard>(
      CollStart{{"/opt/bin/mpirun", "-n", "4", "./solve"}, "openmpi", seconds(990)});
  if (figures != nullptr) board->show(*figures, seconds(1'000));
  return board;
}

observe::Response ask(const std::string& path, const std::shared_ptr<CollBoard>& board,
                      int at = 1'001) {
  const CollSite site(board, observe::Guard(*net::Address::make("127.0.0.1", 8080),
                                            "0123456789abcdef", observe::Guard::Readers::all));
  return site.answer({.method = "GET", .path = path, .host = "127.0.0.1:8080"}, seconds(at));
}

json job_of(const JobFigures& figures) {
  return json::parse(coll_json(*board_of(&figures)->latest(), seconds(1'001), unix_now));
}

std::string metrics_of(const JobFigures& figures) {
  return metrics(*board_of(&figures)->latest(), seconds(1'001), unix_now,
                 observe::MetricsFormat::prometheus);
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != text.npos;
}

}  // namespace

TEST_CASE("the JSON has calls, what was gained, links, sites and the tree") {
  const json all = job_of(figures_of_four());
  CHECK(all["state"] == "running");
  CHECK(all["ready"] == true);
  CHECK(all["seen_ago"] == 1.0);
  CHECK(all["began_at_unix"] == unix_now - 11);
  const json& job = all["job"];
  CHECK(job["engine"] == "auto");
  CHECK(job["calls"]["of_rank_0"] == 110);
  const json& broadcasts = job["calls"]["by_class"][0];
  CHECK(broadcasts["call"] == "broadcast");
  CHECK(broadcasts["bytes_max"] == 1'024);
  CHECK(broadcasts["gained"].get<double>() == doctest::Approx(0.06 / 4 * 90 - 0.4));
  CHECK(broadcasts["go"] == "trees");
  // It was never tried along trees.
  CHECK(job["calls"]["by_class"][1]["gained"].is_null());
  CHECK(job["calls"]["by_class"][1]["go"] == "native");
  CHECK(job["links"][0]["rate_to"] == 1e9);
  CHECK(job["links"][1]["rate_to"].is_null());
  CHECK(job["links"][2]["age"].is_null());
  CHECK(job["sites"]["count"] == 2);
  CHECK(job["sites"]["latencies"][0][1] == 0.02);
  CHECK(job["trees"][0]["parents"] == json::array({-1, 0, 1, 0}));
  CHECK(job["mst"].is_null());
}

TEST_CASE("what goes another way is said, with why") {
  const auto says = [](const JobFigures& figures, const std::string& words) {
    const json remarks = job_of(figures)["job"]["remarks"];
    return std::any_of(remarks.begin(), remarks.end(), [&](const json& one) {
      return one.get<std::string>().find(words) != std::string::npos;
    });
  };
  JobFigures figures = figures_of_four();
  CHECK(says(figures, "6 calls of rank 0 were not looked at"));
  CHECK_FALSE(says(figures, "MPI_THREAD_MULTIPLE"));
  CHECK_FALSE(says(figures, "No link was measured"));
  figures.nonblocking = false;
  figures.pairs_measured = 0;
  CHECK(says(figures, "MPI_THREAD_MULTIPLE"));
  CHECK(says(figures, "No link was measured"));
  figures.ran = 1;
  CHECK_FALSE(says(figures, "No link was measured"));
  figures.engine = "mst";
  figures.mst = {.binomial = 3, .own_view = 2, .fallen_back = 1};
  CHECK(says(figures, "3 broadcasts of rank 0 went along a binomial tree"));
  CHECK(says(figures, "1 of these came after a round was over"));
  figures.left_alone = "one host";
  CHECK(says(figures, "left to the MPI library: one host"));
}

TEST_CASE("engine mst has its rounds and what rank 0 knows of the tree") {
  JobFigures figures = figures_of_four();
  figures.engine = "mst";
  figures.mst = {.rounds = 2,
                 .letters = 40,
                 .along_rounds = 9,
                 .binomial = 3,
                 .own_view = 1,
                 .neighbours = {1, 3},
                 .costs = {0.01, 0.02}};
  const json job = job_of(figures)["job"];
  CHECK(job["mst"]["rounds"] == 2);
  CHECK(job["mst"]["neighbours"][1]["rank"] == 3);
  CHECK(job["mst"]["parents"].is_null());
  JobFigures whole = figures;
  whole.mst.parents = {coll::no_rank, 0, 1, 0};
  whole.mst.latencies = {-1, 0.01, -1, 0.02};
  const json mst = job_of(whole)["job"]["mst"];
  CHECK(mst["parents"] == json::array({-1, 0, 1, 0}));
  CHECK(mst["latencies"][2].is_null());
  const std::string text = metrics_of(figures);
  CHECK(has_line(text, "piracema_coll_mst_rounds_total 2"));
  CHECK(has_line(text, "piracema_coll_mst_broadcasts_total{tree=\"binomial\"} 3"));
}

TEST_CASE("metrics have the same figures") {
  JobFigures figures = figures_of_four();
  const std::string text = metrics_of(figures);
  CHECK(has_line(text, "piracema_coll_ready 1"));
  CHECK(has_line(text, "piracema_coll_shown_age_seconds 1"));
  CHECK(has_line(text, "piracema_coll_ranks 4"));
  CHECK(has_line(text, "piracema_coll_hosts 2"));
  CHECK(has_line(text, "piracema_coll_rank_calls_total{done=\"trees\"} 90"));
  CHECK(has_line(text, "piracema_coll_rank_calls_total{done=\"native\"} 14"));
  CHECK(has_line(text, "piracema_coll_rank_calls_total{done=\"not_looked_at\"} 6"));
  CHECK(has_line(text, "piracema_coll_calls_total{call=\"broadcast\",way=\"trees\"} 90"));
  CHECK(has_line(text, "piracema_coll_gained_seconds 0.95"));
  CHECK(has_line(text, "piracema_coll_link_pairs_measured 5"));
  CHECK(has_line(text, "piracema_coll_link_latency_seconds{rank=\"2\"} 0.02"));
  CHECK(text.find("piracema_coll_link_latency_seconds{rank=\"3\"}") == text.npos);
  CHECK(has_line(text,
                 "piracema_coll_link_rate_bytes_per_second{rank=\"1\",direction=\"to\"} 1e+09"));
  CHECK(has_line(text, "piracema_coll_tree_binomial_seconds 0.04"));
  CHECK(text.find("piracema_coll_mst") == text.npos);
  figures.left_alone = "one host";
  const std::string alone = metrics_of(figures);
  CHECK(has_line(alone, "piracema_coll_left_alone 1"));
  CHECK(alone.find("piracema_coll_link") == alone.npos);
}

TEST_CASE("ready is who shows itself, until it ends") {
  JobFigures figures = figures_of_four();
  CHECK(ask("/readyz", board_of(nullptr), 991).body == "no rank has called MPI_Init yet\n");
  CHECK(ask("/readyz", board_of(nullptr)).body.find("--figures FILE") != std::string::npos);
  CHECK(ask("/readyz", board_of(&figures)).code == 200);
  CHECK(ask("/readyz", board_of(&figures), 1'011).code == 503);
  CHECK(ask("/healthz", board_of(&figures), 1'011).code == 200);
  figures.is_over = true;
  CHECK(ask("/readyz", board_of(&figures)).body == "the program has called MPI_Finalize\n");
  CHECK(job_of(figures)["state"] == "over");
}

TEST_CASE("figures that were shown before make nobody look alive") {
  JobFigures figures = figures_of_four();
  const auto board = board_of(&figures);
  board->show(figures, seconds(1'009));
  CHECK(ask("/readyz", board, 1'011).code == 503);
  figures.number += 1;
  board->show(figures, seconds(1'010));
  CHECK(ask("/readyz", board, 1'011).code == 200);
  // A second program of the same job counts from the beginning.
  figures.process += 1;
  board->show(figures, seconds(1'020));
  CHECK(ask("/readyz", board, 1'021).code == 200);
}

TEST_CASE("what cannot be read is said, and what was known stays") {
  const JobFigures figures = figures_of_four();
  const auto board = board_of(&figures);
  board->show(Error{Errc::corrupt, "these are none"}, seconds(1'001));
  CHECK(ask("/readyz", board, 1'002).code == 200);
  CHECK(ask("/readyz", board, 1'011).body == "these are none\n");
  CHECK(json::parse(ask("/api/v1/job", board, 1'011).body)["job"]["ranks"] == 4);
  // The same file is whole again.
  board->show(figures, seconds(1'012));
  CHECK(ask("/readyz", board, 1'012).body != "these are none\n");
  const auto fresh = board_of(nullptr);
  fresh->show(Error{Errc::corrupt, "these are none"}, seconds(991));
  CHECK(ask("/readyz", fresh, 991).body == "these are none\n");
}

TEST_CASE("before anything is known there is an answer, and nothing else is served") {
  const auto board = board_of(nullptr);
  const json all = json::parse(ask("/api/v1/job", board).body);
  CHECK(all["state"] == "starting");
  CHECK(all["job"].is_null());
  CHECK(ask("/metrics", board).code == 200);
  CHECK(ask("/", board).code == 200);
  CHECK(ask("/nothing", board).code == 404);
}
