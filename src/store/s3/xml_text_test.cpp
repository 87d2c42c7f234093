#include "store/s3/xml_text.h"

#include <doctest/doctest.h>

#include "base/random.h"

using namespace piracema;
using namespace piracema::store;

namespace {

const std::string listing =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult xmlns=\"http://s3\">\n"
    " <Contents><Key>a/b</Key><ETag>&quot;x&quot;</ETag></Contents>\n"
    " <Contents><Key>&lt;&amp;&#65;&#x20ac;</Key><Owner/></Contents>\n"
    " <IsTruncated>false</IsTruncated></ListBucketResult>\n";

}  // namespace

TEST_CASE("the fields of an answer are read with the names that they are in") {
  const auto fields = read_xml(as_bytes(listing));
  REQUIRE(fields);
  CHECK(*fields == std::vector<XmlField>{{"ListBucketResult/Contents/Key", "a/b"},
                                         {"ListBucketResult/Contents/ETag", "\"x\""},
                                         {"ListBucketResult/Contents/Key", "<&A\u20ac"},
                                         {"ListBucketResult/Contents/Owner", ""},
                                         {"ListBucketResult/IsTruncated", "false"}});
  CHECK(text_of(*fields, "ListBucketResult/IsTruncated") == "false");
  CHECK(text_of(*fields, "Error/Code").empty());
}

TEST_CASE("what is no answer in XML is refused") {
  std::string deep;
  for (int i = 0; i < 17; ++i) deep += "<a>";
  for (int i = 0; i < 17; ++i) deep += "</a>";
  for (const std::string& text :
       {std::string(), std::string("Dear Sir"), std::string("<a>"), std::string("<a></b>"),
        std::string("</a>"), std::string("<a/><b/>"), std::string("<a>&what;</a>"),
        std::string("<a>&#0;</a>"), std::string("<a>&#xd800;</a>"), std::string("<a>&lt</a>"),
        std::string("<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>"), std::string("<a/>text"),
        std::string("<>x</>"), std::string("<a"), deep}) {
    CAPTURE(text);
    const auto fields = read_xml(as_bytes(text));
    REQUIRE_FALSE(fields);
    CHECK(fields.error().code == Errc::corrupt);
  }
}

TEST_CASE("an answer with bytes that have changed is read or refused, and nothing else happens") {
  Random random(1);
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = listing;
    for (std::uint64_t n = 1 + random.below(8); n != 0; --n) {
      text[random.below(text.size())] = static_cast<char>(random.next());
    }
    text.resize(random.below(text.size() + 1));
    refused += read_xml(as_bytes(text)).ok() ? 0 : 1;
  }
  CHECK(refused > 10'000);
}
