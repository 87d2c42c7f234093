#include "smr/link/handshake.h"

#include <doctest/doctest.h>

#include "base/random.h"
#include "smr/replica/testing.h"

using namespace piracema;
using namespace piracema::smr;
using namespace piracema::smr::testing;

namespace {

const PeerName server{PeerName::Role::replica, 1};
const PeerName caller{PeerName::Role::client, 7};

std::optional<PublicKey> known(const PeerName& name) {
  if (name == caller) return key_of(7).public_key();
  return std::nullopt;
}

struct Pair {
  Self near{"g", caller, key_of(7)};
  Self far{"g", server, key_of(1)};
  Handshake dialler{near, server, key_of(1).public_key()};
  Handshake acceptor{far, known};
};

}  // namespace

TEST_CASE("two that know each other agree on keys, which differ each time") {
  LinkKeys first;
  for (const bool again : {false, true}) {
    Pair pair;
    Buffer answer, proof, none;
    CHECK(*pair.acceptor.take(pair.dialler.hello(), answer) == false);
    CHECK(*pair.dialler.take(answer, proof) == true);
    CHECK(*pair.acceptor.take(proof, none) == true);
    CHECK(none.empty());
    CHECK(pair.acceptor.peer() == caller);
    CHECK(pair.dialler.keys().send == pair.acceptor.keys().receive);
    CHECK(pair.dialler.keys().receive == pair.acceptor.keys().send);
    CHECK(pair.dialler.keys().send != pair.dialler.keys().receive);
    if (again) CHECK(first.send != pair.dialler.keys().send);
    first = pair.dialler.keys();
  }
}

TEST_CASE(
    "a stranger without a key is told who leads, in fewer bytes than it has sent, and has to go") {
  Self far{"g", server, key_of(1)};
  const LeaderAnswer leads{1, 7, 2, "10.0.0.2:7300"};
  Handshake acceptor(far, known, [&] { return leads; });
  Buffer answer;
  const Buffer question = leader_question("g");
  CHECK(acceptor.take(question, answer).error().code == Errc::not_found);
  const auto told = decode_leader_answer(answer);
  REQUIRE(told.ok());
  CHECK(told->leader == 2);
  CHECK(told->address == "10.0.0.2:7300");
  CHECK(answer.size() <= question.size());
  CHECK(acceptor.take(question, answer).error().code == Errc::corrupt);
}

TEST_CASE("who asks a replica of another group, or one that tells nobody, is not told who leads") {
  Self far{"g", server, key_of(1)};
  Buffer answer;
  Handshake other(far, known, [] { return LeaderAnswer{}; });
  CHECK(other.take(leader_question("another"), answer).error().code == Errc::refused);
  Handshake cut(far, known, [] { return LeaderAnswer{}; });
  const Buffer question = leader_question("g");
  CHECK(cut.take(Bytes(question).first(30), answer).error().code == Errc::corrupt);
  Handshake silent(far, known);
  CHECK(silent.take(question, answer).error().code == Errc::corrupt);
  CHECK(answer.empty());
}

TEST_CASE("no address makes an answer longer than the question") {
  const Buffer answer = encode(LeaderAnswer{1, 1, 1, std::string(1'000, 'x')});
  CHECK(answer.size() <= leader_question("g").size());
  CHECK(decode_leader_answer(answer)->address.empty());
}

TEST_CASE("nobody gets in without the key of the name that he gives") {
  Pair pair;
  pair.near.key = key_of(8);
  Buffer answer, proof, none;
  CHECK(pair.acceptor.take(pair.dialler.hello(), answer).ok());
  CHECK(pair.dialler.take(answer, proof).ok());
  CHECK(pair.acceptor.take(proof, none).error().code == Errc::refused);
}

TEST_CASE("a caller notices that somebody else answers") {
  Pair pair;
  pair.far.key = key_of(8);
  Buffer answer, proof;
  CHECK(pair.acceptor.take(pair.dialler.hello(), answer).ok());
  CHECK(pair.dialler.take(answer, proof).error().code == Errc::refused);
}

TEST_CASE("strangers, other groups and callers of somebody else are refused at once") {
  for (const int what : {0, 1, 2}) {
    Pair pair;
    if (what == 0) pair.near.name.id = 99;
    if (what == 1) pair.near.group = "h";
    if (what == 2) pair.far.name.id = 2;
    Buffer answer;
    CHECK(pair.acceptor.take(pair.dialler.hello(), answer).error().code == Errc::refused);
    CHECK(answer.empty() == (what != 0));
  }
}

TEST_CASE(
    "a stranger is told so by whom he called and by nobody else, in fewer bytes than he sent") {
  for (const bool somebody_else : {false, true}) {
    Pair pair;
    pair.near.name.id = 99;
    if (somebody_else) pair.far.key = key_of(8);
    Buffer refusal, none;
    const Buffer hello = pair.dialler.hello();
    CHECK_FALSE(pair.acceptor.take(hello, refusal).ok());
    CHECK(refusal.size() < hello.size());
    const auto heard = pair.dialler.take(refusal, none);
    REQUIRE_FALSE(heard.ok());
    CHECK(pair.dialler.is_refused() == !somebody_else);
    CHECK((heard.error().message.find("client 99 is not known to replica 1") !=
           std::string::npos) == !somebody_else);
    CHECK(none.empty());
  }
}

TEST_CASE("a refusal of one hello is none of another") {
  Pair one, other;
  one.near.name.id = other.near.name.id = 99;
  Buffer refusal, none;
  CHECK_FALSE(one.acceptor.take(one.dialler.hello(), refusal).ok());
  static_cast<void>(other.dialler.hello());
  CHECK_FALSE(other.dialler.take(refusal, none).ok());
  CHECK_FALSE(other.dialler.is_refused());
}

TEST_CASE("a message with any bit changed, or cut short, ends the handshake") {
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    Pair pair;
    Buffer answer, proof, none;
    const auto spoil = [&](Buffer& message, bool now) {
      if (!now) return;
      if (random.chance(0.2)) {
        message.resize(random.below(message.size()));
      } else {
        message.data()[random.below(message.size())] ^=
            static_cast<std::byte>(1u << random.below(8));
      }
    };
    const auto at = random.below(3);
    Buffer hello = pair.dialler.hello();
    spoil(hello, at == 0);
    const bool one = pair.acceptor.take(hello, answer).ok();
    spoil(answer, one && at == 1);
    const bool two = one && pair.dialler.take(answer, proof).ok();
    spoil(proof, two && at == 2);
    const bool three = two && pair.acceptor.take(proof, none).ok();
    CHECK_FALSE(three);
  }
}

TEST_CASE("two of which one has no AES agree to do without") {
  for (const bool near_has : {false, true}) {
    Pair pair;
    pair.near.aes = near_has;
    pair.far.aes = !near_has;
    Buffer answer, proof, none;
    CHECK(pair.acceptor.take(pair.dialler.hello(), answer).ok());
    CHECK(pair.dialler.take(answer, proof).ok());
    CHECK(*pair.acceptor.take(proof, none) == true);
    CHECK_FALSE(pair.dialler.keys().protection.aes);
    CHECK_FALSE(pair.acceptor.keys().protection.aes);
    CHECK(pair.dialler.keys().send == pair.acceptor.keys().receive);
  }
}

TEST_CASE(
    "one that sees another host is enough for a seal, and nobody on the way can take it off") {
  for (const bool near_wants : {false, true}) {
    for (const bool far_wants : {false, true}) {
      Pair pair;
      if (near_wants) pair.dialler.want_seal();
      if (far_wants) pair.acceptor.want_seal();
      Buffer answer, proof, none;
      CHECK(pair.acceptor.take(pair.dialler.hello(), answer).ok());
      CHECK(pair.dialler.take(answer, proof).ok());
      CHECK(*pair.acceptor.take(proof, none) == true);
      CHECK(pair.dialler.keys().protection.sealed == (near_wants || far_wants));
      CHECK(pair.acceptor.keys().protection == pair.dialler.keys().protection);
    }
  }
  for (const std::size_t message : {0u, 1u}) {
    Pair pair;
    pair.dialler.want_seal();
    pair.acceptor.want_seal();
    Buffer hello = pair.dialler.hello(), answer, proof, none;
    if (message == 0) hello.data()[6] &= ~std::byte{2};
    CHECK(pair.acceptor.take(hello, answer).ok());
    if (message == 1) answer.data()[0] &= ~std::byte{2};
    CHECK_FALSE(pair.dialler.take(answer, proof).ok());
  }
}
