#include <doctest/doctest.h>
#include <piracema/smr/configuration.h>

#include "base/text.h"
#include "smr/replica/testing.h"

using namespace piracema;
using namespace piracema::smr;
using namespace piracema::smr::testing;

namespace {

/// With replicas 0, 1 and 2, one client, and `more` behind it.
std::string text(const std::string& more = "", const std::string& faults = "crash") {
  std::string text = "[group]\nname = \"t\"\nfaults = \"" + faults + "\"\nf = 1\n";  // Lines 1-4.
  for (std::uint8_t i = 0; i < 3; ++i) {  // Line 5 + 3 * i and on.
    text += concat("[replica.", int{i}, "]\naddress = \"127.0.0.1:", 7000 + i,
                   "\"\npublic_key = \"", hex_key_of(i), "\"\n");
  }
  return text + "[client.1]\npublic_key = \"" + hex_key_of(9) + "\"\n" + more;
}

std::string error_of(const std::string& from) {
  const auto read = parse_configuration(from, "c.toml");
  return read ? "" : read.error().message;
}

std::string replaced(std::string in, const std::string& what, const std::string& by) {
  REQUIRE(in.find(what) != in.npos);
  return in.replace(in.find(what), what.size(), by);
}

}  // namespace

TEST_CASE("a configuration comes back from its text") {
  const auto read = parse_configuration(
      text("[settings] # of all\nrequest_timeout = \"3s\"\ndurable = false\n"), "c.toml");
  REQUIRE(read.ok());
  CHECK(read->replicas.size() == 3);
  CHECK(read->replicas[2].address == "127.0.0.1:7002");
  CHECK(read->request_timeout == std::chrono::seconds(3));
  CHECK_FALSE(read->durable);

  const auto again = parse_configuration(to_text(*read), "again");
  REQUIRE(again.ok());
  CHECK(to_text(*again) == to_text(*read));
}

TEST_CASE("too few replicas for f are named with the line that asks for them") {
  CHECK(error_of(text("", "byzantine")) ==
        "c.toml:4: group.f: want 4 replicas or more (3f + 1) to outlive f = 1 byzantine faults, at "
        "most 128, found 3");
  CHECK(error_of(replaced(text(), "f = 1", "f = 2")).starts_with("c.toml:4: group.f: want 5 "));
}

TEST_CASE("two with one identity, key or address are refused") {
  CHECK(error_of(replaced(text(), hex_key_of(2), hex_key_of(1))) ==
        "c.toml:13: replica.2.public_key: is also that of replica.1: two with one identity");
  CHECK(error_of(replaced(text(), "127.0.0.1:7002", "127.0.0.1:7001")) ==
        "c.toml:12: replica.2.address: is also that of replica.1");
  CHECK(error_of(replaced(text(), "[replica.2]", "[replica.1]")) ==
        "c.toml:11: [replica.1] comes twice");
  CHECK(
      error_of(replaced(text(), hex_key_of(9), hex_key_of(1))).starts_with("c.toml:15: client.1"));
}

TEST_CASE("what nobody knows, and what makes no sense, is named with its line") {
  CHECK(error_of(text("[settings]\nspeed = 3\n"))
            .starts_with("c.toml:17: settings.speed: unknown; want request_timeout"));
  CHECK(error_of(text("[setings]\nspeed = 3\n")).starts_with("c.toml:17: setings.speed: unknown"));
  CHECK(error_of(text("[settings]\nrequest_timeout = 3\n")).starts_with("c.toml:17: "));
  CHECK(error_of(text("[settings]\nrequest_timeout = \"1ms\"\n")).starts_with("c.toml:17: "));
  CHECK(
      error_of(text("[replica.x]\naddress = \"\"\n")).starts_with("c.toml:17: replica.x.address"));
  CHECK(
      error_of(replaced(text(), "127.0.0.1:7001", "localhost")).starts_with("c.toml:9: replica.1"));
  CHECK(error_of(replaced(text(), "127.0.0.1:7001", "127.0.0.1:0")).starts_with("c.toml:9: "));
  CHECK(error_of(replaced(text(), hex_key_of(1), "abc")).starts_with("c.toml:10: replica.1"));
  CHECK(error_of(text("f\n")).starts_with("c.toml:16: want name = value"));
  CHECK(error_of(text("x = \"a\\\"\n")).starts_with("c.toml:16: x: want one string"));
  CHECK(error_of("").starts_with("c.toml: group.name: want 1 to 100 bytes"));
}

TEST_CASE("replicas that are added later do not count, and may live where another one did") {
  const std::string more = "[replica.3]\naddress = \"127.0.0.1:7001\"\npublic_key = \"" +
                           hex_key_of(3) + "\"\nadded = true\n";
  const auto read = parse_configuration(text(more), "c.toml");
  REQUIRE(read.ok());
  CHECK(read->replicas.at(3).added);
  CHECK(parse_configuration(to_text(*read), "again")->replicas.at(3).added);
  CHECK(error_of(replaced(text(more), "f = 1", "f = 2")).starts_with("c.toml:4: group.f: want 5 "));
  CHECK(error_of(replaced(text(more), "true", "1")) ==
        "c.toml:19: replica.3.added: want true or false, found '1'");
}

TEST_CASE("a setting out of range is named with its line, to replicas and clients alike") {
  CHECK(error_of(text("[settings]\ncheckpoint_every = 20\n")) ==
        "c.toml:17: settings.checkpoint_every: want a number from 32 to 1000000000, found '20'");
  auto configuration = parse_configuration(text(), "c.toml");
  REQUIRE(configuration.ok());
  configuration->checkpoint_every = 20;
  const auto valid = validate(*configuration);
  REQUIRE_FALSE(valid.ok());
  CHECK(valid.error().message.find("settings.checkpoint_every: want a number from 32") == 0);
}
