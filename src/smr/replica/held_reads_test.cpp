#include "smr/replica/held_reads.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::smr;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// "news" is something to tell.
struct WatchedService final : Watchable {
  bool has_news(Bytes reply) const override { return as_text(reply) == "news"; }
};

/// It counts what may be news.
struct Counting final : Watchable {
  bool has_news(Bytes reply) const override { return as_text(reply) == "news"; }
  std::optional<std::uint64_t> changes() const override { return count; }
  std::uint64_t count = 0;
};

using Tokens = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("a read is held until there is news, and asked again when something was executed") {
  const WatchedService service;
  HeldReads held(&service);
  held.add(7, Buffer(as_bytes("watch")), seconds(1));
  CHECK(held.next_look().has_value());
  CHECK(held.due(seconds(1)) == Tokens{7});
  CHECK(as_text(held.operation(7)) == "watch");
  held.asked(seconds(1), seconds(1));
  CHECK(held.due(seconds(2)).empty());  // The service has not answered yet.
  CHECK_FALSE(held.told(7, as_bytes("nothing"), seconds(2)));
  CHECK_FALSE(held.next_look().has_value());
  CHECK(held.due(seconds(2)).empty());

  held.executed();
  CHECK(held.due(seconds(3)) == Tokens{7});
  CHECK(held.told(7, as_bytes("news"), seconds(3)));
  held.executed();
  CHECK(held.due(seconds(4)).empty());
  CHECK_FALSE(held.told(7, as_bytes("news"), seconds(4)));
}

TEST_CASE("what can be no news is not looked at, if the service says so") {
  Counting service;
  HeldReads held(&service);
  held.executed();
  held.add(7, {}, seconds(1));
  CHECK(held.due(seconds(1)) == Tokens{7});
  held.asked(seconds(1), seconds(1));
  CHECK_FALSE(held.told(7, as_bytes("nothing"), seconds(1)));

  held.executed();
  CHECK_FALSE(held.next_look().has_value());
  CHECK(held.due(seconds(2)).empty());

  service.count += 1;
  held.executed();
  held.executed();
  CHECK(held.due(seconds(2)) == Tokens{7});
}

TEST_CASE("what is executed while the service is asked is looked at as well") {
  const WatchedService service;
  HeldReads held(&service);
  held.add(7, {}, seconds(1));
  CHECK(held.due(seconds(1)) == Tokens{7});
  held.executed();
  CHECK(held.due(seconds(2)).empty());
  CHECK_FALSE(held.told(7, as_bytes("nothing"), seconds(2)));
  CHECK(held.due(seconds(3)) == Tokens{7});
}

TEST_CASE("a read that was held for its time is told that there is nothing") {
  const WatchedService service;
  HeldReads held(&service);
  held.add(7, {}, seconds(1));
  CHECK(held.due(seconds(1)) == Tokens{7});
  CHECK_FALSE(held.told(7, as_bytes("nothing"), seconds(1)));
  CHECK(held.due(seconds(1) + HeldReads::hold_time - milliseconds(1)).empty());
  CHECK(held.due(seconds(1) + HeldReads::hold_time) == Tokens{7});
  CHECK(held.told(7, as_bytes("nothing"), seconds(1) + HeldReads::hold_time));
}

TEST_CASE("to look takes a fifth of the time at most") {
  const WatchedService service;
  HeldReads held(&service);
  held.add(7, {}, seconds(1));
  CHECK(held.due(seconds(1)) == Tokens{7});
  held.asked(seconds(1), seconds(2));
  CHECK_FALSE(held.told(7, as_bytes("nothing"), seconds(2)));
  held.executed();
  CHECK(held.due(milliseconds(5'999)).empty());
  CHECK(*held.next_look() == seconds(6));
  CHECK(held.due(seconds(6)) == Tokens{7});
}

TEST_CASE("what is more than may be held is answered at once, as where nothing is known of news") {
  const WatchedService service;
  HeldReads full(&service);
  for (std::uint64_t token = 0; token <= HeldReads::held_max; ++token)
    full.add(token, {}, seconds(1));
  CHECK(full.due(seconds(1)).size() == HeldReads::held_max + 1);
  CHECK_FALSE(full.told(0, as_bytes("nothing"), seconds(1)));
  CHECK(full.told(HeldReads::held_max, as_bytes("nothing"), seconds(1)));

  HeldReads none(nullptr);
  none.add(7, {}, seconds(1));
  CHECK(none.due(seconds(1)) == Tokens{7});
  CHECK(none.told(7, as_bytes("nothing"), seconds(1)));
}
