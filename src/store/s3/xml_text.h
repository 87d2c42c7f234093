#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <string>
#include <vector>

namespace piracema::store {

/// An element without others in it: the names of those that it is in and its own, and its text.
struct XmlField {
  /// "ListBucketResult/Contents/Key"
  std::string path;
  std::string text;
  bool operator==(const XmlField&) const = default;
};

/// The fields of what a server of S3 answers, in their order: elements, text, and the five
/// entities and numbers of XML. Attributes are passed over. Errc::corrupt for anything else: a
/// document type, other entities, elements that do not end, more than 16 in each other.
Result<std::vector<XmlField>> read_xml(Bytes text);

/// The text of the first one with this path; empty if there is none.
std::string text_of(const std::vector<XmlField>& fields, std::string_view path);

}  // namespace piracema::store
