#include "base/hint.h"

#include <doctest/doctest.h>

#include <cerrno>

#include "base/text.h"

using namespace piracema;

TEST_CASE("a hint is found again behind its message") {
  const std::string text = with_hint("no key", "make one");
  CHECK(text == "no key; hint: make one");
  CHECK(split_hint(text).message == "no key");
  CHECK(split_hint(text).hint == "make one");
}

TEST_CASE("a message without a hint is whole") {
  CHECK(with_hint("no key", "") == "no key");
  CHECK(split_hint("no key").message == "no key");
  CHECK(split_hint("no key").hint.empty());
}

TEST_CASE("of two hints the first one stays, which is nearer to what has failed") {
  CHECK(with_hint(with_hint("no key", "make one"), "ask") == "no key; hint: make one");
}

TEST_CASE("errors of the system that one can do something about say what") {
  const auto hint_of = [](int number) {
    errno = number;
    return std::string(split_hint(with_errno("file")).hint);
  };
  CHECK(hint_of(ENOSPC).find("room") != std::string::npos);
  CHECK(hint_of(EDQUOT).find("quota") != std::string::npos);
  CHECK(hint_of(EADDRINUSE).find("another port") != std::string::npos);
  CHECK(hint_of(EMFILE).find("ulimit -n") != std::string::npos);
  CHECK(hint_of(ENOENT).empty());
}
