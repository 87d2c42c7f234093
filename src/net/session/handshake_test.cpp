#include "net/session/handshake.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"

using namespace piracema;
using namespace piracema::net;

namespace {

const std::string token = "0123456789abcdef0123456789abcdef";
const std::string other = "0123456789abcdef0123456789abcdee";

Handshake side(const std::string& key = token, Purpose purpose = Purpose::frames) {
  return Handshake(key, purpose, draw_nonce());
}
Handshake side(Sealing sealing, const std::string& key = token) {
  return Handshake(key, Purpose::frames, draw_nonce(), sealing);
}
Buffer text(std::string_view words) { return Buffer(as_bytes(words)); }

/// A caller and the one who is called, as far as the caller's proof.
struct Two {
  Handshake caller = side(), called = side();
  wire::Frame call = caller.call(text("I am one"));
  wire::Frame answer;

  void talk() {
    REQUIRE(called.take_call(call).ok());
    answer = called.answer(text("I am two"));
  }
};

std::string why(const Result<Buffer>& result) { return result.ok() ? "" : result.error().message; }

}  // namespace

TEST_CASE("two that have the key know each other and what each says of itself") {
  Handshake caller = side(), called = side();
  const auto first = called.take_call(caller.call(text("I am one")));
  REQUIRE(first.ok());
  CHECK(as_text(*first) == "I am one");
  const auto second = caller.take_answer(called.answer(text("I am two")));
  REQUIRE(second.ok());
  CHECK(as_text(*second) == "I am two");
  CHECK(called.take_proof(caller.proof()).ok());
}

TEST_CASE("the key is in nothing that is said") {
  Two two;
  two.talk();
  for (const wire::Frame& frame : {two.call, two.answer, two.caller.proof()}) {
    CHECK(as_text(frame.head).find(token) == std::string_view::npos);
    CHECK(as_text(frame.head).find("\x01\x23\x45\x67") == std::string_view::npos);
  }
}

TEST_CASE("another job, version or purpose is refused with what was wanted and found") {
  CHECK(why(side().take_call(side(other).call({}))) ==
        "handshake: want this job, found another one");
  CHECK_FALSE(side().take_call(side(token, Purpose::control).call({})).ok());
  wire::Frame old = side().call({});
  old.head.data()[0] = std::byte{1};
  CHECK(why(side().take_call(old)) ==
        concat("handshake: want version ", transport_version, " of the transport, found 1"));
}

TEST_CASE("who does not have the key can neither answer nor prove") {
  Two two;
  two.talk();
  wire::Frame forged = two.answer;
  forged.head.data()[forged.head.size() - 1] ^= std::byte{1};
  Handshake caller = two.caller;
  CHECK(why(caller.take_answer(forged)) == "handshake: it does not have the key of this job");
  wire::Frame proof = two.caller.proof();
  CHECK(two.caller.take_answer(two.answer).ok());
  CHECK_FALSE(two.called.take_proof(proof).ok());  // Of before the answer.
  CHECK(two.called.take_proof(two.caller.proof()).ok());
}

TEST_CASE("nothing that was said can be changed on its way") {
  Two two;
  two.talk();
  Handshake caller = two.caller;
  wire::Frame changed = two.answer;
  const std::size_t words = sizeof(Nonce) + 2 + sizeof(PublicKey) + 8 + 5;  // "two" of "I am two".
  changed.head.data()[words] = std::byte{'T'};
  CHECK_FALSE(caller.take_answer(changed).ok());

  Handshake called = side();
  wire::Frame call = two.call;
  call.head.data()[call.head.size() - 1] = std::byte{'!'};
  REQUIRE(called.take_call(call).ok());  // Nothing is proven yet.
  CHECK_FALSE(two.caller.take_answer(called.answer({})).ok());
}

TEST_CASE("what was heard on one connection opens no other") {
  Two two;
  two.talk();
  REQUIRE(two.caller.take_answer(two.answer).ok());
  const wire::Frame proof = two.caller.proof();
  REQUIRE(two.called.take_proof(proof).ok());

  Handshake again = side();
  REQUIRE(again.take_call(two.call).ok());
  again.answer({});
  CHECK_FALSE(again.take_proof(proof).ok());
  Handshake caller = side();
  caller.call({});
  CHECK_FALSE(caller.take_answer(two.answer).ok());
}

TEST_CASE("an answer that is sent back to who made it is no proof") {
  Two two;
  two.talk();
  wire::Frame reflected;
  reflected.kind = proof_kind;
  const std::byte* tail = two.answer.head.data() + two.answer.head.size() - sizeof(Proof);
  reflected.head = Buffer(Bytes(tail, sizeof(Proof)));
  CHECK_FALSE(two.called.take_proof(reflected).ok());
}

TEST_CASE("a frame of another kind or length is no part of a handshake") {
  Two two;
  two.talk();
  CHECK(two.called.take_proof(two.answer).error().code == Errc::corrupt);
  CHECK(two.called.take_call(two.answer).error().code == Errc::corrupt);
  CHECK(two.caller.take_answer(two.call).error().code == Errc::corrupt);
  for (wire::Frame* frame : {&two.call, &two.answer}) frame->head.resize(frame->head.size() - 1);
  CHECK(side().take_call(two.call).error().code == Errc::corrupt);
  CHECK(two.caller.take_answer(two.answer).error().code == Errc::corrupt);
}

TEST_CASE("tokens are 32 hexadecimal digits, and differ") {
  const std::string one = draw_token();
  CHECK(is_token(one));
  CHECK(one != draw_token());
  CHECK_FALSE(is_token(one.substr(1)));
  CHECK_FALSE(is_token(std::string(32, 'x')));
}

TEST_CASE("a greeting is read as it was written") {
  const auto greeting = read_greeting(to_bytes({.slot = 3, .incarnation = 7, .mpi_tag = 9}));
  REQUIRE(greeting.ok());
  CHECK(greeting->slot == 3);
  CHECK(greeting->incarnation == 7);
  CHECK(greeting->mpi_tag == 9);
  CHECK(read_greeting(text("?")).error().code == Errc::corrupt);
}

// ---- the seal -----------------------------------------------------------------------------------

namespace {

/// Where what it wants of a seal stands in a call and in an answer; the ciphers follow, and the
/// key.
constexpr std::size_t sealing_in_call = 4 + 1 + 8 + sizeof(Nonce),
                      sealing_in_answer = sizeof(Nonce);

/// The keys of both, after all has been said.
std::pair<std::optional<SealKeys>, std::optional<SealKeys>> keys_of(Handshake& caller,
                                                                    Handshake& called) {
  REQUIRE(called.take_call(caller.call({})).ok());
  REQUIRE(caller.take_answer(called.answer({})).ok());
  REQUIRE(called.take_proof(caller.proof()).ok());
  return {caller.keys(), called.keys()};
}

}  // namespace

TEST_CASE("what one end seals with the other one opens with, each way with its own key") {
  Handshake caller = side(Sealing::required), called = side(Sealing::required);
  const auto [one, two] = keys_of(caller, called);
  REQUIRE(one.has_value());
  REQUIRE(two.has_value());
  CHECK((one->out == two->in));
  CHECK((one->in == two->out));
  CHECK((one->in != one->out));
  CHECK(one->cipher == two->cipher);
  CHECK(one->cipher == best_of(ciphers_here()));
}

TEST_CASE("keys differ from connection to connection, whatever else is the same") {
  const Nonce nonce = draw_nonce(), secret = draw_nonce();
  const auto caller = [&] {
    return Handshake(token, Purpose::frames, nonce, Sealing::required, secret);
  };
  Handshake one = caller(), called = side(Sealing::required);
  Handshake two = caller(), called_again = side(Sealing::required);
  CHECK((keys_of(one, called).first->out != keys_of(two, called_again).first->out));
}

TEST_CASE("who has the key of the job and all that was said, but no secret, has not the keys") {
  const Nonce one = draw_nonce(), two = draw_nonce();
  Handshake caller(token, Purpose::frames, one, Sealing::required);
  Handshake called(token, Purpose::frames, two, Sealing::required);
  const wire::Frame call = caller.call({});
  REQUIRE(called.take_call(call).ok());
  const wire::Frame answer = called.answer({});
  REQUIRE(caller.take_answer(answer).ok());
  Handshake later(token, Purpose::frames, two, Sealing::required);
  REQUIRE(later.take_call(call).ok());
  CHECK((later.keys()->in != caller.keys()->out));
}

TEST_CASE("two that stay on their host, or are plain, have no keys") {
  Handshake near = side(Sealing::possible), nearby = side(Sealing::possible);
  CHECK_FALSE(keys_of(near, nearby).first.has_value());
  Handshake plain = side(Sealing::never), as_plain = side(Sealing::never);
  CHECK_FALSE(keys_of(plain, as_plain).second.has_value());
  Handshake agent = side(Sealing::preferred), door = side(Sealing::never);
  CHECK_FALSE(keys_of(agent, door).first.has_value());
}

TEST_CASE("a plain caller is refused by one that wants a seal, and the other way round") {
  CHECK(why(side(Sealing::required).take_call(side(Sealing::never).call({}))) ==
        "handshake: want a sealed connection to another host, found a peer that sends plain "
        "(--plain)");
  CHECK(why(side(Sealing::never).take_call(side(Sealing::required).call({}))) ==
        "handshake: want a plain connection (--plain), found a peer that wants it sealed");
}

TEST_CASE("nobody on the way can turn the seal off, nor take a cipher away") {
  for (const std::size_t at : {sealing_in_call, sealing_in_call + 1, sealing_in_call + 2}) {
    CAPTURE(at);
    Handshake caller = side(Sealing::preferred), called = side(Sealing::possible);
    wire::Frame call = caller.call({});
    // What it wants becomes "possible"; AES goes; the key is another one.
    const std::byte wrong[] = {std::byte{1}, std::byte{2}, std::byte{9}};
    const std::byte was = call.head.data()[at];
    call.head.data()[at] = wrong[at - sealing_in_call];
    if (was == call.head.data()[at]) continue;  // There is no AES here.
    REQUIRE(called.take_call(call).ok());
    CHECK(why(caller.take_answer(called.answer({}))) ==
          "handshake: it does not have the key of this job");
  }
  for (const std::size_t at : {sealing_in_answer, sealing_in_answer + 1, sealing_in_answer + 2}) {
    CAPTURE(at);
    Handshake caller = side(Sealing::preferred), called = side(Sealing::required);
    REQUIRE(called.take_call(caller.call({})).ok());
    wire::Frame answer = called.answer({});
    answer.head.data()[at] = std::byte{0};
    CHECK_FALSE(caller.take_answer(answer).ok());
  }
}

TEST_CASE("a public key that makes the same of every secret is refused") {
  Handshake caller = side(Sealing::required), called = side(Sealing::required);
  wire::Frame call = caller.call({});
  std::fill_n(call.head.data() + sealing_in_call + 2, sizeof(PublicKey), std::byte{0});
  CHECK(why(called.take_call(call)) == "handshake: want a public key of X25519, found none");
}

TEST_CASE("a caller without a cipher that we have is refused") {
  Handshake caller = side(Sealing::required), called = side(Sealing::required);
  wire::Frame call = caller.call({});
  call.head.data()[sealing_in_call + 1] = std::byte{0x80};
  CHECK(why(called.take_call(call)) == "handshake: want a cipher that both have, found number 0");
}
