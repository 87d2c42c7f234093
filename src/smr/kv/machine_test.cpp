#include <doctest/doctest.h>

#include <set>
#include <string>

#include "base/random.h"
#include "base/text.h"
#include "smr/kv/testing.h"
#include "smr/service/executor/key_executor.h"

namespace piracema::smr::kv {

using namespace piracema::smr::kv::testing;

namespace {

std::string told(const Reply& watched) {
  std::string text;
  for (const Event& event : watched.events) {
    const char* names[] = {"put", "removed", "expired"};
    text += concat(names[static_cast<int>(event.change)], " ", event.key, "=", event.value, " ");
  }
  return text;
}

}  // namespace

TEST_CASE("an entry is there until it is removed, and knows its versions") {
  Store store;
  CHECK(store.get("a") == "(none)");
  const Index created = store(Put{"a", "1"}).index;
  const Index changed = store(Put{"a", "2"}).index;
  const Reply got = store(Get{"a"});
  REQUIRE(got.entries.size() == 1);
  CHECK(got.entries[0].value == "2");
  CHECK(got.entries[0].created == created);
  CHECK(got.entries[0].changed == changed);

  CHECK(store(Remove{"a"}).status == Status::ok);
  CHECK(store(Remove{"a"}).status == Status::not_found);
  CHECK(store(Put{"a", "3"}).entries.at(0).created > changed);
}

TEST_CASE("compare-and-swap changes the version that was seen and no other") {
  Store store;
  const Index first = store(Put{"a", "1", 0}).index;
  CHECK(store(Put{"a", "x", 0}).status == Status::conflict);
  const Reply conflict = store(Put{"a", "x", first + 1});
  CHECK(conflict.status == Status::conflict);
  CHECK(conflict.entries.at(0).value == "1");
  CHECK(store(Put{"a", "2", first}).status == Status::ok);
  CHECK(store(Remove{"a", first}).status == Status::conflict);
  CHECK(store.get("a") == "2");
}

TEST_CASE("a lease ends by the clock of ordered operations, and nothing brings it back") {
  Store store;
  const Index lease = store.at(10 * second, Grant{5 * second}).lease;
  CHECK(store(Put{"a", "1", {}, lease}).status == Status::ok);
  CHECK(store.at(14 * second, KeepAlive{lease}).status == Status::ok);
  CHECK(store.at(18 * second, Get{"a"}).status == Status::ok);

  CHECK(store.at(19 * second, Get{"a"}).status == Status::not_found);
  CHECK(store(KeepAlive{lease}).status == Status::no_lease);
  CHECK(store(Put{"b", "1", {}, lease}).status == Status::no_lease);
  CHECK(store(Remove{"a"}).status == Status::not_found);
  CHECK(store(List{"", ""}).entries.empty());
  CHECK(decode_reply(store.machine.query(encode(Get{"a"})))->status == Status::not_found);
}

TEST_CASE("a lock has one holder, its tokens grow, and a former holder writes nothing") {
  Store store;
  const auto lock = [&store](std::string who, Index lease) {
    return store(Put{"lock", std::move(who), 0, lease});
  };
  const Index ann = store.at(0, Grant{second}).lease, bob = store(Grant{9 * second}).lease;
  const Reply anns = lock("ann", ann);
  CHECK(lock("bob", bob).status == Status::conflict);
  CHECK(store(Put{"data", "of ann", {}, 0, Fence{"lock", anns.entries.at(0).created}}).status ==
        Status::ok);

  store.at(2 * second, Get{"x"});
  const Reply bobs = lock("bob", bob);
  CHECK(bobs.status == Status::ok);
  CHECK(bobs.entries.at(0).created > anns.entries.at(0).created);
  const Fence old{"lock", anns.entries.at(0).created};
  CHECK(store(Put{"data", "late", {}, 0, old}).status == Status::fenced);
  CHECK(store(Remove{"data", {}, old}).status == Status::fenced);
  CHECK(store.get("data") == "of ann");
}

TEST_CASE("entries of a lease go with it, those that were put again without it stay") {
  Store store;
  const Index lease = store.at(0, Grant{second}).lease;
  for (const char* key : {"a", "b", "c"}) store(Put{key, "1", {}, lease});
  store(Put{"b", "2"});
  const Index before = store.at(2 * second, Put{"z", "1"}).index;
  CHECK_FALSE(store(Expire{}).more);
  CHECK(told(store(Watch{"", true, before})) == "expired a= expired c= ");
  CHECK(store.get("b") == "2");

  const Index other = store(Grant{second}).lease;
  store(Put{"d", "1", {}, other});
  CHECK(store(Revoke{other}).status == Status::ok);
  CHECK(store.get("d") == "(none)");
  CHECK(store(Revoke{other}).status == Status::no_lease);
}

TEST_CASE("a lease with many entries ends at once and is cleared away bit by bit") {
  Store store;
  const Index lease = store.at(0, Grant{second}).lease;
  for (int i = 0; i < 300; ++i) store(Put{concat("key", i), "1", {}, lease});
  CHECK(store(Revoke{lease}).more);
  CHECK(store(List{"key", ""}).entries.empty());
  CHECK(store(Expire{}).more);
  CHECK_FALSE(store(Expire{}).more);
}

TEST_CASE("leases end by the machine's own timer, also after it was restored") {
  Store store;
  CHECK_FALSE(store.machine.next_deadline().has_value());
  const Index first = store.at(0, Grant{second}).lease, other = store(Grant{3 * second}).lease;
  store(Put{"a", "1", {}, first});
  const Index before = store(Put{"b", "1", {}, other}).index;
  CHECK(store.machine.next_deadline() == second);
  store(KeepAlive{first});
  Machine restored;
  REQUIRE(restored.restore(bytes_of(store.machine.snapshot())));
  CHECK(restored.next_deadline() == second);

  store.context.instance += 1;
  store.context.time = 2 * second;
  store.machine.on_time(store.context);
  CHECK(store.machine.next_deadline() == 3 * second);
  const auto query = [&](const auto& o) { return *decode_reply(store.machine.query(encode(o))); };
  CHECK(query(Get{"a"}).status == Status::not_found);
  CHECK(query(Get{"b"}).status == Status::ok);
  CHECK(told(query(Watch{"", true, before})) == "expired a= ");
  store.context.instance += 1;
  store.context.time = 4 * second;
  store.machine.on_time(store.context);
  CHECK_FALSE(store.machine.next_deadline().has_value());
}

TEST_CASE("a watch tells what happened after its place, once, in order") {
  Store store;
  const Index from = store(Put{"a1", "x"}).index;
  store(Put{"a1", "y"});
  store(Put{"b", "z"});
  store(Remove{"a1"});
  CHECK(told(store(Watch{"a1", false, from})) == "put a1=y removed a1= ");
  const Reply all = store(Watch{"a", true, 0});
  CHECK(told(all) == "put a1=x put a1=y removed a1= ");
  CHECK(store(Watch{"a", true, all.index}).events.empty());
  store(Put{"a2", "w"});
  CHECK(told(store(Watch{"a", true, all.index})) == "put a2=w ");
}

TEST_CASE("a key that is taken anew after its lease has ended was gone in between") {
  Store store;
  const Index lease = store.at(0, Grant{second}).lease;
  store(Put{"a", "old", {}, lease});
  store.at(2 * second, Put{"a", "new", 0});
  CHECK(told(store(Watch{"a", false, 0})) == "put a=old expired a= put a=new ");
}

TEST_CASE("a watch from too far back is told from where one may ask") {
  Store store;
  store(Put{"a", "0"});
  for (std::size_t i = 0; i < Shard::history_max + 5; ++i) store(Put{"a", concat(i)});
  const Reply late = store(Watch{"a", false, 0});
  CHECK(late.status == Status::compacted);
  const Reply now = store(Watch{"a", false, late.index});
  CHECK(now.status == Status::ok);
  CHECK(now.events.size() == Shard::history_max);
}

TEST_CASE("what is kept for watches has a bound in bytes, and the latest is always kept") {
  Store store;
  const std::size_t large = Shard::history_bytes_max / 4;
  for (int i = 0; i < 8; ++i) store(Put{"a", std::string(large, 'x')});
  const Reply late = store(Watch{"a", false, 0});
  CHECK(late.status == Status::compacted);
  CHECK(store(Watch{"a", false, late.index}).events.size() == 3);
  store(Put{"a", std::string(value_bytes_max, 'y')});
  const Reply then = store(Watch{"a", false, late.index});
  CHECK(then.status == Status::compacted);
  CHECK(store(Watch{"a", false, then.index}).events.size() == 1);
}

TEST_CASE("an image of before there was a bound in bytes makes what that bound would have left") {
  const std::string value(Shard::history_bytes_max / 10, 'v');
  Shard bounded;
  Buffer before;
  wire::Writer out(before);
  out.number(std::uint64_t{1});
  out.text("a");
  out.text(value);
  for (const Index number : {1, 20, 0}) out.number(number);  // Created, changed, lease.
  out.number(Index{0});
  out.number(std::uint64_t{20});
  for (Index i = 1; i <= 20; ++i) {
    bounded.put("a", {std::make_shared<const std::string>(value), 1, i, 0});
    out.number(i);
    out.number(static_cast<std::uint8_t>(Change::put));
    out.text("a");
    out.text(value);
  }
  Shard restored;
  wire::Reader in(before);
  restored.read(in);
  REQUIRE(in.finish());
  CHECK(restored.history().size() < 20);
  Buffer mine, theirs;
  wire::Writer my_writer(mine), their_writer(theirs);
  bounded.write(my_writer);
  restored.write(their_writer);
  CHECK(as_text(mine) == as_text(theirs));
}

TEST_CASE("how large a map is follows from its entries, however they came to be") {
  Store store;
  CHECK(store.machine.state_bytes() == 0);
  Random random(3);
  const Index lease = store(Grant{100 * second}).lease;
  for (int i = 0; i < 2'000; ++i) {
    const std::string key = concat("k", random.below(50));
    switch (random.below(4)) {
      case 0:
        store(Remove{key});
        break;
      case 1:
        store(Put{key, std::string(random.below(300), 'x'), {}, lease});
        break;
      default:
        store(Put{key, std::string(random.below(300), 'x')});
    }
  }
  const auto same_as_its_image = [](Machine& machine) {
    const Buffer image = bytes_of(machine.snapshot());
    Machine other;
    REQUIRE(other.restore(image));
    CHECK(other.state_bytes() == machine.state_bytes());
    CHECK(machine.state_bytes() < image.size());
  };
  same_as_its_image(store.machine);
  const std::uint64_t before = store.machine.state_bytes();
  store(Revoke{lease});
  CHECK(store.machine.state_bytes() < before);
  same_as_its_image(store.machine);
}

TEST_CASE("long lists come in parts, by key, and all of them") {
  Store store;
  std::set<std::string> keys;
  for (int i = 0; i < 2'500; ++i) {
    keys.insert(concat("k", i));
    store(Put{concat("k", i), "1"});
  }
  store(Put{"l", "1"});
  std::string after;
  std::vector<std::string> found;
  for (bool more = true; more;) {
    const Reply part = store(List{"k", after});
    CHECK(part.entries.size() <= list_max);
    for (const Entry& entry : part.entries) found.push_back(entry.key);
    after = found.back();
    more = part.more;
  }
  CHECK((found == std::vector<std::string>(keys.begin(), keys.end())));
}

TEST_CASE("large values come in parts, too") {
  Store store;
  for (int i = 0; i < 5; ++i) store(Put{concat("k", i), std::string(value_bytes_max / 2, 'x')});
  std::string after;
  int parts = 0, entries = 0;
  for (bool more = true; more; ++parts) {
    const Reply part = store(List{"", after});
    entries += static_cast<int>(part.entries.size());
    after = part.entries.back().key;
    more = part.more;
  }
  CHECK(parts == 3);
  CHECK(entries == 5);
  Index from = 0;
  int events = 0;
  for (bool more = true; more;) {
    const Reply part = store(Watch{"", true, from});
    events += static_cast<int>(part.events.size());
    from = part.index;
    more = part.more;
  }
  CHECK(events == 5);
}

TEST_CASE("operations beyond the limits are refused and change nothing") {
  Store store;
  const auto refused = [&store](const auto& o) { return store(o).status == Status::bad_request; };
  CHECK(refused(Put{"", "1"}));
  CHECK(refused(Put{std::string(key_bytes_max + 1, 'k'), "1"}));
  CHECK(refused(Put{"a", std::string(value_bytes_max + 1, 'v')}));
  CHECK(refused(Put{"a", "1", {}, 0, Fence{"", 1}}));
  CHECK(refused(Grant{0}));
  CHECK(refused(Grant{~std::uint64_t{0}}));
  CHECK(decode_reply(store.machine.query(encode(Put{"a", "1"})))->status == Status::bad_request);
  CHECK(store(List{"", ""}).entries.empty());
}

TEST_CASE("whatever bytes come as operation, image or reply, they are taken or refused") {
  Random random(5);
  // One takes operations, the other one refuses images and stays empty.
  Machine machine, other;
  const Buffer right = bytes_of(machine.snapshot());
  const Buffer samples[] = {encode(Put{"a", "1", 3, 4, Fence{"b", 5}}), encode(Watch{"a", true, 7}),
                            encode(Grant{second}), encode(Expire{}),
                            encode(Transaction{{{"a", 1}}, {{"b", 2}}, {{"c", "3"}}, {{"d"}}})};
  for (int i = 0; i < 20'000; ++i) {
    Buffer bytes = samples[random.below(std::size(samples))];
    for (std::uint64_t n = random.below(4); n > 0 && !bytes.empty(); --n) {
      bytes.data()[random.below(bytes.size())] = static_cast<std::byte>(random.next());
    }
    bytes.resize(bytes.size() - std::min<std::size_t>(bytes.size(), random.below(3)));
    machine.keys(bytes);
    (void)machine.query(bytes);
    const auto reply = machine.apply(bytes, {.instance = static_cast<std::uint64_t>(i) + 1});
    CHECK(decode_reply(reply).ok());
    (void)decode_reply(bytes);
    CHECK_FALSE(other.restore(bytes));
    CHECK(bytes_of(other.snapshot()).size() == right.size());
  }
}

TEST_CASE("an image is that of its moment, and what it makes answers like the original") {
  Store store;
  const Index lease = store.at(second, Grant{second}).lease;
  for (int i = 0; i < 1'000; ++i) store(Put{concat("k", i), "1", {}, i % 3 == 0 ? lease : 0});
  store(Remove{"k7"});
  const auto image = store.machine.snapshot();
  const std::string listed(as_text(store.machine.query(encode(List{"k", ""}))));
  const std::string watched(as_text(store.machine.query(encode(Watch{"k", true, 0}))));
  for (int i = 0; i < 1'000; ++i) store(Put{concat("k", i), "2"});

  Machine restored;
  const Buffer bytes = bytes_of(image);
  REQUIRE(restored.restore(bytes));
  CHECK(as_text(restored.query(encode(List{"k", ""}))) == listed);
  CHECK(as_text(restored.query(encode(Watch{"k", true, 0}))) == watched);
  CHECK(as_text(bytes_of(restored.snapshot())) == as_text(bytes));
  for (std::size_t cut = 0; cut < bytes.size(); cut += 101) {
    CHECK_FALSE(restored.restore(Bytes(bytes).first(cut)));
  }
}

namespace {

Buffer draw_transaction(Random& random, const std::string& key, std::optional<Index> expected,
                        const std::optional<Fence>& fence) {
  Transaction all;
  const auto other = [&] { return concat("k", random.below(40)); };
  if (random.chance(0.3)) all.conditions.push_back({other(), expected.value_or(0)});
  if (fence && random.chance(0.5)) all.fences.push_back(*fence);
  all.puts.push_back({key, concat(random.below(100)), expected, 0, fence});
  for (std::uint64_t n = random.below(3); n > 0; --n) all.puts.push_back({other(), "t"});
  if (random.chance(0.3)) all.removes.push_back({other()});
  return encode(all);
}

Buffer draw_operation(Random& random) {
  const std::string key = concat("k", random.below(40));
  const Index some = random.below(4) == 0 ? 0 : (1 + random.below(40)) << 20 | random.below(60);
  std::optional<Fence> fence;
  if (random.chance(0.2)) fence = Fence{concat("k", random.below(40)), some};
  std::optional<Index> expected;
  if (random.chance(0.3)) expected = some;
  switch (random.below(14)) {
    case 12:
    case 13:
      return draw_transaction(random, key, expected, fence);
    case 0:
      return encode(Grant{second * (1 + random.below(20))});
    case 1:
      return encode(KeepAlive{some});
    case 2:
      return random.chance(0.5) ? encode(Revoke{some}) : encode(Expire{});
    case 3:
      return encode(List{"k1", ""});
    case 4:
      return encode(Watch{key, random.chance(0.3), some});
    case 5:
    case 6:
      return encode(Remove{key, expected, fence});
    case 7:
    case 8:
      return encode(Get{key});
    default:
      return encode(
          Put{key, concat(random.below(100)), expected, random.chance(0.3) ? some : 0, fence});
  }
}

}  // namespace

TEST_CASE("with threads replies and state are those of doing one by one") {
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    Machine one, parallel;
    KeyExecutor executor(parallel, 4, {.ignored = true});
    for (std::uint64_t instance = 1; instance <= 40; ++instance) {
      std::vector<Buffer> operations;
      std::vector<Task> tasks(60);
      for (std::uint32_t i = 0; i < tasks.size(); ++i) {
        operations.push_back(draw_operation(random));
        tasks[i].operation = operations.back();
        tasks[i].context = {instance, i, instance * second, 1};
      }
      executor.run(tasks, [](std::span<Task* const>) {});
      bool same = true;
      for (const Task& task : tasks) {
        same = same && as_text(one.apply(task.operation, task.context)) == as_text(task.reply);
      }
      CHECK(same);
    }
    CHECK(as_text(bytes_of(one.snapshot())) == as_text(bytes_of(parallel.snapshot())));
  }
}

TEST_CASE("a new map takes another one's entries with their tokens, and uses none of them again") {
  Store old;
  for (int i = 0; i < 20; ++i) old(Put{"a", std::to_string(i)});
  old(Put{"b", "x"});
  const Reply all = old(List{"", ""});
  REQUIRE(all.entries.size() == 2);

  Store store;
  REQUIRE(store(Load{all.index, {all.entries[0]}}).status == Status::ok);
  REQUIRE(store(Load{all.index, {all.entries[1]}}).status == Status::ok);
  const Reply got = store(Get{"a"});
  REQUIRE(got.entries.size() == 1);
  CHECK(got.entries[0].value == "19");
  CHECK(got.entries[0].created == all.entries[0].created);
  CHECK(got.entries[0].changed == all.entries[0].changed);
  const Index next = store(Put{"c", "new"}).index;
  CHECK(next > all.index);
  CHECK(store(Grant{second}).lease > next);

  // Said again it undoes nothing, and no other one's comes on top.
  REQUIRE(store(Put{"a", "changed"}).status == Status::ok);
  CHECK(store(Load{all.index, all.entries}).status == Status::ok);
  CHECK(store.get("a") == "changed");
  CHECK(store(Load{all.index + 1, all.entries}).status == Status::conflict);
  Store used;
  used(Put{"a", "1"});
  CHECK(used(Load{all.index, all.entries}).status == Status::conflict);

  // It all survives a checkpoint.
  Store restored;
  restored.context = store.context;
  REQUIRE(restored.machine.restore(bytes_of(store.machine.snapshot())));
  CHECK(restored(Put{"d", "1"}).index > next);
}

TEST_CASE("entries that no map has given are refused") {
  Store store;
  const auto refused = [&](const Load& load) { return store(load).status == Status::bad_request; };
  CHECK(refused({5, {{.key = "a", .value = "", .created = 1, .changed = 6}}}));
  CHECK(refused({5, {{.key = "a", .value = "", .created = 2, .changed = 1}}}));
  CHECK(refused({5, {{.key = "a", .value = "", .created = 1, .changed = 1, .lease = 1}}}));
  CHECK(refused({5, {{.key = "", .value = "", .created = 1, .changed = 1}}}));
  CHECK(refused({~Index{0}, {}}));
}

}  // namespace piracema::smr::kv
