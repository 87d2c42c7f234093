#include "run/replica/part_saver.h"

#include <doctest/doctest.h>
#include <piracema/blocks.h>
#include <piracema/detail/keyed_table.h>

#include <optional>
#include <string>

#include "run/packet/recorder.h"

using namespace piracema;
using namespace piracema::runtime;
using piracema::runtime::testing::Recorder;

namespace {

struct Text final : Operator {
  void save(Buffer& out) override { out.append(as_bytes(text).data(), text.size()); }
  std::string text = "seven";
};

struct SavedSink {
  Graph graph = pipeline(source("numbers", [] { return std::optional<std::int64_t>(); }),
                         sink("none", [](const std::int64_t&) {}));
  flow::Plan plan = flow::make_plan(graph.shape);
  Recorder port;
  Counters counters;
  OperatorGuard guard{port, counters, nullptr};
  Text text;
  PartSaver parts{1, plan.replicas[1], graph, port, guard};
};

}  // namespace

TEST_CASE("a part says how far the replica had come, and has what the operator saved") {
  SavedSink f;
  const Buffer part = f.parts.plain_part(state::Stage::ended, f.text);
  const auto read = state::read_plain_part(part);
  REQUIRE(read);
  CHECK(read->stage == state::Stage::ended);
  CHECK(as_text(read->state) == "seven");
  CHECK(read->under_way.empty());
}

TEST_CASE("without states by key a part is saved at once, and nothing is left to be saved") {
  SavedSink f;
  Buffer part = f.parts.plain_part(state::Stage::running, f.text);
  f.parts.cut(4, 3, 10);
  CHECK(f.port.saved.empty());
  f.parts.save(4, std::move(part), 0);
  CHECK(f.port.saved.contains(4));
  CHECK_FALSE(f.parts.can_go_on());
  CHECK(f.parts.keep() == nullptr);
}

TEST_CASE("states by key are saved for a part of the time that items took, within bounds") {
  using namespace std::chrono_literals;
  SavedSink f;
  const Graph graph = pipeline(source("numbers", [] { return std::optional<std::int64_t>(); }),
                               sink("count", [](const std::int64_t&, std::int64_t& count) {
                                 count += 1;
                               }).by_key([](const std::int64_t& n) { return n; }, 1'024));
  const flow::Plan plan = flow::make_plan(graph.shape);
  detail::KeyedTable<std::int64_t, std::int64_t> counts;
  PartSaver parts{1, plan.replicas[1], graph, f.port, f.guard};
  ReplicaInit init;
  init.piece_bytes = 1;  // Each group is one.
  init.unwritten_bytes_max = std::size_t{1} << 30;
  parts.begin_keys(counts, init);
  for (std::int64_t key = 0; key < 10'000; ++key) {
    counts.edit(key, detail::MixedHash<std::int64_t>::of(key, plan.replicas[1].groups)) = key;
  }
  Buffer part = parts.plain_part(state::Stage::running, f.text);
  f.port.look = 20us;
  parts.cut(4, 3, 10);
  parts.save(4, std::move(part), 0);
  const auto saved_after = [&](Time items) {
    f.port.clock += items;
    const int before = f.port.pieces[4];
    parts.go_on();
    return f.port.pieces[4] - before;
  };
  CHECK(saved_after(0us) == 11);
  CHECK(saved_after(600us) == 11);
  CHECK(saved_after(2'400us) == 31);
  CHECK(saved_after(100ms) == 51);
  CHECK(saved_after(0us) == 11);
}
