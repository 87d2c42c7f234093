#include "store/s3/s3_address.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <map>

#include "base/testing.h"

using namespace piracema;
using namespace piracema::store;
using testing::contains;

TEST_CASE("an address has a bucket, and a prefix if it likes") {
  for (const std::string text : {"s3://bucket", "s3://bucket/", "s3://my-bucket.1/jobs/2026_a~b"}) {
    CAPTURE(text);
    const auto address = S3Address::parse(text);
    REQUIRE(address);
    CHECK(address->text() == (text.ends_with('/') ? text.substr(0, text.size() - 1) : text));
  }
  const auto address = S3Address::parse("s3://bucket/a/b/");
  REQUIRE(address);
  CHECK(address->bucket == "bucket");
  CHECK(address->prefix == "a/b");
}

TEST_CASE("an address that could mean two things is refused by name") {
  for (const std::string text :
       {"s3://", "s3:///job", "s3://ab", "s3://Bucket/job", "s3://-bucket", "s3://bucket//job",
        "s3://bucket/a//b", "s3://bucket/../b", "s3://bucket/.", "s3://bucket/a b", "s3://bucket/ä",
        "s3://bucket/a?b", "s3://bucket/job//", "S3://bucket/job", "s3://user@bucket/job"}) {
    CAPTURE(text);
    const auto address = S3Address::parse(text);
    REQUIRE_FALSE(address);
    CHECK(address.error().code == Errc::config);
    CHECK(contains(address.error().message, "want s3://BUCKET/PREFIX"));
    CHECK(contains(address.error().message, text));
  }
  CHECK_FALSE(S3Address::parse("s3://bucket/" + std::string(1'000, 'x')));
}

TEST_CASE("the environment says where the server is and who we are, and no secret is shown") {
  const auto with = [](std::map<std::string, std::string> variables) {
    for (const char* name :
         {"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_DEFAULT_REGION",
          "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"}) {
      ::unsetenv(name);
    }
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
    return S3Server::from_environment();
  };
  const std::map<std::string, std::string> keys{{"AWS_ACCESS_KEY_ID", "id"},
                                                {"AWS_SECRET_ACCESS_KEY", "secret"}};
  const auto amazon = with(keys);
  REQUIRE(amazon);
  CHECK(amazon->endpoint == "https://s3.us-east-1.amazonaws.com");
  auto own = keys;
  own["AWS_ENDPOINT_URL"] = "http://127.0.0.1:9000/";
  own["AWS_REGION"] = "eu-central-1";
  CHECK(with(own)->endpoint == "http://127.0.0.1:9000");
  CHECK(with(own)->region == "eu-central-1");
  own["AWS_ENDPOINT_URL_S3"] = "https://store";
  CHECK(with(own)->endpoint == "https://store");
  CHECK(contains(with({}).error().message, "AWS_ACCESS_KEY_ID"));
  CHECK(contains(with({{"AWS_ACCESS_KEY_ID", "id"}}).error().message, "AWS_SECRET_ACCESS_KEY"));
  own["AWS_ENDPOINT_URL_S3"] = "store:9000";
  CHECK(contains(with(own).error().message, "found \"store:9000\""));
  own = keys;
  own["AWS_SESSION_TOKEN"] = "two\nlines";
  CHECK_FALSE(contains(with(own).error().message, "two"));
  own = keys;
  own["AWS_REGION"] = "x/../y";
  CHECK(contains(with(own).error().message, "AWS_REGION"));
  CHECK_FALSE(with({}));
}
