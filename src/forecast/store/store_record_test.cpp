#include "forecast/store/store_record.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "base/testing.h"
#include "forecast/dump/outlook.h"
#include "forecast/store/store_trace.h"
#include "store/document.h"

namespace piracema::ckpt {

namespace {

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}
void write_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

PastDump some_dump(StoreTrace& trace) {
  const auto [features, seconds] = trace.next();
  return {features, seconds};
}

}  // namespace

TEST_CASE("jobs that lie side by side share what is known of their store") {
  const testing::ScratchDirectory scratch;
  for (const char* job : {"/a", "/b"}) ::mkdir((scratch.path() + job).c_str(), 0700);
  const auto place = store_place(scratch.path() + "/a");
  REQUIRE(place.ok());
  CHECK(*place == *store_place(scratch.path() + "/b"));
}

TEST_CASE("a place that others may write to is not trusted") {
  const testing::ScratchDirectory scratch;
  ::mkdir((scratch.path() + "/a").c_str(), 0700);
  const std::string shared = scratch.path() + "/.piracema-store";
  ::mkdir(shared.c_str(), 0700);
  ::chmod(shared.c_str(), 0777);
  const auto place = store_place(scratch.path() + "/a");
  REQUIRE(place.ok());
  CHECK(*place == scratch.path() + "/a/.piracema-store");
}

TEST_CASE("dumps are remembered, the newest of them, and teach the same again") {
  const testing::ScratchDirectory scratch;
  StoreTrace trace(StoreKind::contended, 5);
  CHECK(read_past_dumps(scratch.path())->empty());
  std::vector<PastDump> all;
  for (int i = 0; i < 40; ++i) {
    all.push_back(some_dump(trace));
    REQUIRE(add_past_dump(scratch.path(), all.back()));
  }
  const auto read = read_past_dumps(scratch.path());
  REQUIRE(read.ok());
  REQUIRE(read->size() == 40);
  CHECK(learn_from(*read).forecast({.bytes = 1e9}).p99 ==
        doctest::Approx(learn_from(all).forecast({.bytes = 1e9}).p99));
  CHECK(learn_from(*read).learnt() == 40);
}

TEST_CASE("what was remembered before there was compression, or samples, had neither") {
  const testing::ScratchDirectory scratch;
  const std::string path = scratch.path() + "/store.json";
  write_text(path, seal("piracema store", {{"dumps",
                                            {{5e8, 0, 2, 1e6, 1, 0, 0.01, 1, 1e9, 2.5},
                                             {6e8, 0, 2, 1e6, 1, 0, 0.01, 1, 1e9, 1, 3.5}}}}));
  const auto read = read_past_dumps(scratch.path());
  REQUIRE(read.ok());
  REQUIRE(read->size() == 2);
  CHECK(read->front().seconds == 2.5);
  CHECK(read->front().features.at == 1e9);
  CHECK(read->front().features.compressed == 0);
  CHECK(read->back().seconds == 3.5);
  CHECK(read->back().features.compressed == 1);
  for (const PastDump& one : *read) CHECK(one.features.sample == 0);
}

TEST_CASE("a file that is torn or foreign teaches nothing, and one of another version is kept") {
  const testing::ScratchDirectory scratch;
  const std::string path = scratch.path() + "/store.json";
  StoreTrace trace(StoreKind::calm, 5);
  REQUIRE(add_past_dump(scratch.path(), some_dump(trace)));
  const std::string good = read_text(path);
  for (const std::string& text : {std::string(), std::string("{}"), good.substr(0, good.size() / 2),
                                  good + "x", std::string(100'000, '[')}) {
    write_text(path, text);
    const auto read = read_past_dumps(scratch.path());
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().code == Errc::corrupt);
    REQUIRE(add_past_dump(scratch.path(), some_dump(trace)));
    CHECK(read_past_dumps(scratch.path())->size() == 1);
  }
  std::string newer = good;
  newer.replace(newer.find("\"version\": 1"), 12, "\"version\": 2");
  write_text(path, newer);
  const auto added = add_past_dump(scratch.path(), some_dump(trace));
  REQUIRE_FALSE(added.ok());
  CHECK(added.error().code == Errc::refused);
  CHECK(read_text(path) == newer);
}

TEST_CASE("an outlook arrives as it was told, and anything else is refused") {
  StoreTrace trace(StoreKind::shared, 2);
  const DumpFeatures known = trace.next().first;
  const Outlook outlook{known, Predictor().forecast(known), 12};
  const std::string text = encode_outlook(outlook);
  CHECK(text.size() < 4000);
  const auto read = decode_outlook(text);
  REQUIRE(read.ok());
  CHECK(read->features.writers == known.writers);
  CHECK(read->forecast.p95 == outlook.forecast.p95);
  CHECK(read->forecast.factors.size() == outlook.forecast.factors.size());
  CHECK(read->learnt == 12);
  CHECK_FALSE(decode_outlook("image 1").ok());
  CHECK_FALSE(decode_outlook(text.substr(2)).ok());
}

}  // namespace piracema::ckpt
