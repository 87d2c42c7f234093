#include "ckpt/keeper/figures_display.h"

#include <doctest/doctest.h>

namespace piracema::ckpt {

namespace {

/// A keeper whose job has so many processes, and what is shown of it.
struct Shown {
  FiguresDisplay display() {
    return {poller,
            keeper,
            history,
            {.look =
                 [this] {
                   looks += 1;
                   return std::pair{JobMemory{.resident = 1'000, .processes = processes},
                                    Outlook{.forecast = {.p50 = 1, .p95 = 2, .p99 = 3}}};
                 },
             .show = [this](const KeeperFigures& one) { figures.push_back(one); }}};
  }
  void wait_for(std::size_t count) {
    while (figures.size() < count) poller.run_once(std::chrono::milliseconds(-1));
  }

  net::Poller poller;
  Keeper keeper{KeeperSettings{}};
  KeeperHistory history{JobFile{.id = 7, .host_name = "here"}, "/var/tmp/job", {}, "", now()};
  std::uint64_t processes = 3;
  int looks = 0;
  std::vector<KeeperFigures> figures;
};

}  // namespace

TEST_CASE("figures are shown at once and a second later, but the job is looked at once") {
  Shown shown;
  auto display = shown.display();
  display.begin();
  REQUIRE(shown.figures.size() == 1);
  CHECK(shown.figures[0].forecast.has_value());
  shown.wait_for(2);
  CHECK(shown.figures[1].at - shown.figures[0].at >= std::chrono::milliseconds(900));
  CHECK(shown.looks == 1);
}

TEST_CASE("the job is looked at each second when much has changed or nothing is known") {
  Shown shown;
  auto display = shown.display();
  SUBCASE("much has changed") {
    display.begin();
    display.look_soon();
  }
  SUBCASE("nothing is known") {
    shown.processes = 0;
    display.begin();
    CHECK_FALSE(shown.figures[0].forecast.has_value());
  }
  shown.wait_for(2);
  CHECK(shown.looks == 2);
}

TEST_CASE("a dump that begins has a forecast, and does not wait for a newer one") {
  Shown shown;
  auto display = shown.display();
  display.know_forecast();
  CHECK(shown.looks == 1);
  display.look_soon();
  display.know_forecast();
  CHECK(shown.looks == 1);
  CHECK(shown.figures.empty());
  display.show();
  CHECK(shown.figures[0].forecast->p50 == 1);
}

TEST_CASE("a display that is gone shows nothing more") {
  Shown shown;
  shown.display().begin();
  bool later = false;
  shown.poller.at(now() + std::chrono::milliseconds(1'100), [&] { later = true; });
  while (!later) shown.poller.run_once(std::chrono::milliseconds(-1));
  CHECK(shown.figures.size() == 1);
}

}  // namespace piracema::ckpt
