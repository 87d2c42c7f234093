#include "run/replica/part_saver.h"

#include <doctest/doctest.h>
#include <piracema/blocks.h>

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

struct Fixture {
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
  Fixture f;
  const Buffer part = f.parts.plain_part(state::Stage::ended, f.text);
  const auto read = state::read_plain_part(part);
  REQUIRE(read);
  CHECK(read->stage == state::Stage::ended);
  CHECK(as_text(read->state) == "seven");
  CHECK(read->under_way.empty());
}

TEST_CASE("without states by key a part is saved at once, and nothing is left to be saved") {
  Fixture f;
  Buffer part = f.parts.plain_part(state::Stage::running, f.text);
  f.parts.cut(4, 3, 10);
  CHECK(f.port.saved.empty());
  f.parts.save(4, std::move(part), 0);
  CHECK(f.port.saved.contains(4));
  CHECK_FALSE(f.parts.can_go_on());
  CHECK(f.parts.keep() == nullptr);
}
