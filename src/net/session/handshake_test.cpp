#include "net/session/handshake.h"

#include <doctest/doctest.h>

#include <string>

using namespace piracema;
using namespace piracema::net;

namespace {

const std::string token = "0123456789abcdef0123456789abcdef";
const std::string other = "0123456789abcdef0123456789abcdee";

Handshake side(const std::string& key = token, Purpose purpose = Purpose::frames) {
  return Handshake(key, purpose, draw_nonce());
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
  CHECK(why(side().take_call(old)) == "handshake: want version 4 of the transport, found 1");
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
  const std::size_t words = sizeof(Nonce) + 8 + 5;  // "two" of "I am two".
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
