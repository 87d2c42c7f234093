#include "council/own_replica.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>

#include "council/group_log.h"
#include "smr/link/crypto.h"

using namespace piracema;
using namespace piracema::council;

using std::chrono::seconds;

namespace {

/// A coordinator that is alone: what it invokes is decided at once.
struct Alone {
  Seat seat;
  std::unique_ptr<GroupState> state;
  std::promise<std::uint64_t> leads;
  std::promise<Result<Done>> ended;
  std::atomic<int> applied = 0;

  Alone() {
    const auto own = smr::KeyPair::generate();
    auto port = reserve_port("127.0.0.1");
    REQUIRE(port);
    seat.replica = *std::move(port);
    seat.seed = smr::hex_of(Bytes(own.seed()));
    seat.administrator = smr::hex_of(Bytes(smr::KeyPair::generate().seed()));
    seat.token = std::string(32, 't');
    seat.first = seat.members = {
        {0, seat.replica.address, "127.0.0.1:1", smr::hex_of(Bytes(own.public_key()))}};
    state = std::make_unique<GroupState>(seat.first);
  }
  Result<std::unique_ptr<OwnReplica>> open() {
    return OwnReplica::open(seat, *state,
                            {.leads = [this](std::uint64_t term) { leads.set_value(term); },
                             .leads_no_longer = [] {},
                             .applied = [this] { ++applied; },
                             .ended = [this](const Result<Done>& done) { ended.set_value(done); }});
  }
};

}  // namespace

TEST_CASE("a replica leads, decides what it is asked for, and leaves nothing behind") {
  Alone alone;
  auto replica = alone.open();
  REQUIRE(replica);
  const std::string key_file = (*replica)->key_file();
  CHECK(std::filesystem::exists(key_file));
  (*replica)->begin();
  REQUIRE(alone.leads.get_future().wait_for(seconds(30)) == std::future_status::ready);

  GroupLine line(**replica);
  const auto claimed = line.ask(Claim{{1, 1}, 0, 2, 3});
  REQUIRE(claimed);
  CHECK(claimed->verdict == Verdict::done);
  CHECK(alone.state->standing().leader.member == 0);

  replica->reset();
  auto ended = alone.ended.get_future();
  REQUIRE(ended.wait_for(seconds(0)) == std::future_status::ready);
  CHECK(ended.get());
  CHECK(alone.applied > 0);
  CHECK_FALSE(std::filesystem::exists(std::filesystem::path(key_file).parent_path()));
}

TEST_CASE("a replica that does not begin is closed without a word") {
  Alone alone;
  auto replica = alone.open();
  REQUIRE(replica);
  const std::string key_file = (*replica)->key_file();
  replica->reset();
  CHECK(alone.ended.get_future().wait_for(seconds(0)) == std::future_status::timeout);
  CHECK_FALSE(std::filesystem::exists(key_file));
}

TEST_CASE("a seat without a right key is none") {
  Alone alone;
  SUBCASE("of the replica") { alone.seat.seed = "no key"; }
  SUBCASE("of the administrator") { alone.seat.administrator.clear(); }
  CHECK(alone.open().error().code == Errc::config);
}
