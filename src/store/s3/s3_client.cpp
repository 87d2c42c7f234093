#include "store/s3/s3_client.h"

#include <algorithm>
#include <utility>

#include "base/crypto.h"
#include "base/parse.h"
#include "base/text.h"
#include "store/http/pauses.h"
#include "store/http/url_text.h"
#include "store/s3/xml_text.h"

namespace piracema::store {

namespace {

constexpr std::size_t listing_bytes_max = std::size_t{8} << 20;
/// Which upload an object is of: the object keeps it, and we say it before the server's own name of
/// the upload.
constexpr const char* mark_header = "x-amz-meta-piracema";

// "MARK ID": an id is any text.
std::string mark_of(const std::string& upload) { return upload.substr(0, upload.find(' ')); }
std::string id_of(const std::string& upload) { return upload.substr(upload.find(' ') + 1); }

bool may_succeed_later(long status) {
  // 409: another condition on the same object is being looked at.
  return status >= 500 || status == 429 || status == 409 || status == 408;
}

}  // namespace

Result<std::unique_ptr<S3Client>> S3Client::make(const S3Server& server, std::string bucket,
                                                 ObjectPatience patience) {
  auto http = HttpClient::make(
      "s3://", HttpKeys{server.region, server.key_id, server.secret, server.session_token},
      patience.request);
  if (!http) return http.error();
  return std::unique_ptr<S3Client>(
      new S3Client(*std::move(http), server, std::move(bucket), patience));
}

S3Client::S3Client(std::unique_ptr<HttpClient> http, const S3Server& server, std::string bucket,
                   ObjectPatience patience)
    : http_(std::move(http)),
      endpoint_(server.endpoint),
      bucket_(std::move(bucket)),
      patience_(patience) {}

HttpRequest S3Client::request(std::string method, const std::string& key) const {
  return {.method = std::move(method),
          .url = concat(endpoint_, "/", bucket_, key.empty() ? "" : "/", url_encoded(key, true))};
}

Error S3Client::lost(const Error& why, const std::string& key, const std::string& what) const {
  return {why.code, concat("s3://", bucket_, "/", key, ": cannot ", what, " at ", endpoint_, ": ",
                           why.message)};
}

Error S3Client::error_of(const HttpAnswer& answer, const std::string& key,
                         const std::string& what) const {
  const auto fields = read_xml(answer.body);
  std::string says;
  if (fields) {
    says = concat(" ", one_line(text_of(*fields, "Error/Code")));
    const std::string message = one_line(text_of(*fields, "Error/Message"));
    if (!message.empty()) says += concat(": ", message);
  }
  Errc code = Errc::io;
  if (answer.status == 404) code = Errc::not_found;
  if (answer.status == 412) code = Errc::refused;
  if (may_succeed_later(answer.status)) code = Errc::timeout;
  return lost({code, concat("status ", answer.status, says)}, key, what);
}

Result<HttpAnswer> S3Client::send(const HttpRequest& request, const std::string& key,
                                  const std::string& what) {
  Pauses pauses(patience_.retry_for);
  while (true) {
    auto answer = http_->send(request);
    if (answer && answer->status >= 200 && answer->status < 300) return answer;
    // A range of which there is nothing.
    if (answer && answer->status == 416) return answer;
    const bool later =
        answer ? may_succeed_later(answer->status) : answer.error().code == Errc::timeout;
    if (later && pauses.pass()) continue;
    if (!answer) return lost(answer.error(), key, what);
    return error_of(*answer, key, what);
  }
}

Result<std::string> S3Client::put_if(const std::string& key, const std::vector<Bytes>& pieces,
                                     const std::string& condition) {
  HttpRequest put = request("PUT", key);
  put.headers = {"Content-Type: application/octet-stream"};
  if (!condition.empty()) put.headers.push_back(condition);
  put.body = pieces;
  auto answer = send(put, key, "write it");
  if (!answer) return answer.error();
  return answer->header("etag");
}

Result<Done> S3Client::put(const std::string& key, const std::vector<Bytes>& pieces) {
  const auto written = put_if(key, pieces, "");
  if (!written) return written.error();
  return Done{};
}

Result<Done> S3Client::put_new(const std::string& key, const std::vector<Bytes>& pieces) {
  const auto written = put_if(key, pieces, "If-None-Match: *");
  if (!written) return written.error();
  return Done{};
}

Result<std::optional<Lease::Content>> S3Client::read_lease(const std::string& key) {
  const auto read = get(key, 0, Lease::text_bytes_max);
  if (!read && read.error().code == Errc::not_found) return std::optional<Lease::Content>();
  if (!read) return read.error();
  return std::optional(Lease::Content{read->object.tag, std::string(as_text(read->content))});
}

Result<std::string> S3Client::write_lease(const std::string& key, const std::string& text,
                                          const std::string& if_match) {
  const std::string condition =
      if_match.empty() ? "If-None-Match: *" : concat("If-Match: ", if_match);
  auto written = put_if(key, {as_bytes(text)}, condition);
  // What was to be replaced is gone.
  if (!written && written.error().code == Errc::not_found && !if_match.empty()) {
    return Error{Errc::refused, written.error().message};
  }
  return written;
}

Result<S3Client::Read> S3Client::get(const std::string& key, std::uint64_t offset,
                                     std::uint64_t bytes, const std::string& tag) {
  HttpRequest get = request("GET", key);
  if (bytes == 0) return Error{Errc::io, concat("s3://", bucket_, "/", key, ": no bytes wanted")};
  get.headers = {concat("Range: bytes=", offset, "-", offset + bytes - 1)};
  if (!tag.empty()) get.headers.push_back(concat("If-Match: ", tag));
  get.answer_bytes_max = std::max<std::size_t>(bytes, get.answer_bytes_max);
  auto answer = send(get, key, "read it");
  if (!answer) return answer.error();
  Read read{{answer->header("etag"), answer->body.size()}, {}};
  // "bytes 0-31/1234"; "bytes */12"
  const std::string range = answer->header("content-range");
  const auto all = parse_number<std::uint64_t>(range.substr(range.rfind('/') + 1));
  if (answer->status == 416) {
    read.object.bytes = all.value_or(0);
    return read;
  }
  if (answer->status == 206) {
    if (!all || !range.starts_with(concat("bytes ", offset, "-"))) {
      return lost({Errc::io,
                   concat("want the bytes from ", offset, " on, found \"", one_line(range), "\"")},
                  key, "read it");
    }
    read.object.bytes = *all;
  } else if (offset != 0) {
    return lost({Errc::io, concat("want the bytes from ", offset, " on, found all")}, key,
                "read it");
  }
  if (answer->body.size() > bytes) answer->body.resize(bytes);
  read.content = std::move(answer->body);
  return read;
}

Result<S3Client::Object> S3Client::head(const std::string& key) {
  const auto answer = send(request("HEAD", key), key, "look for it");
  if (!answer) return answer.error();
  const auto bytes = parse_number<std::uint64_t>(answer->header("content-length"));
  return Object{answer->header("etag"), bytes.value_or(0)};
}

Result<Done> S3Client::remove(const std::string& key) {
  const auto answer = send(request("DELETE", key), key, "remove it");
  if (!answer && answer.error().code != Errc::not_found) return answer.error();
  return Done{};
}

Result<S3Client::Listing> S3Client::list(const std::string& prefix, bool folders,
                                         std::size_t names_max) {
  Listing listing;
  std::string token;
  do {
    HttpRequest list = request("GET", "");
    list.answer_bytes_max = listing_bytes_max;
    if (!token.empty()) list.query = concat("continuation-token=", url_encoded(token, false), "&");
    if (folders) list.query += "delimiter=%2F&";
    list.query += concat("list-type=2&prefix=", url_encoded(prefix, false));
    const auto answer = send(list, prefix, "list its objects");
    if (!answer) return answer.error();
    auto fields = read_xml(answer->body);
    if (!fields) return lost({Errc::io, fields.error().message}, prefix, "list its objects");
    for (XmlField& field : *fields) {
      auto* names = field.path == "ListBucketResult/Contents/Key"            ? &listing.keys
                    : field.path == "ListBucketResult/CommonPrefixes/Prefix" ? &listing.folders
                                                                             : nullptr;
      if (names != nullptr && field.text.starts_with(prefix)) names->push_back(field.text);
    }
    if (listing.keys.size() + listing.folders.size() > names_max) {
      return lost({Errc::io, concat("want at most ", names_max, " names")}, prefix,
                  "list its objects");
    }
    const std::string next = text_of(*fields, "ListBucketResult/NextContinuationToken");
    const bool more = text_of(*fields, "ListBucketResult/IsTruncated") == "true";
    if (more && (next.empty() || next == token)) {
      return lost({Errc::io, "want how the list goes on, found nothing"}, prefix,
                  "list its objects");
    }
    token = more ? next : "";
  } while (!token.empty());
  return listing;
}

Result<std::string> S3Client::begin_upload(const std::string& key) {
  const std::string mark = random_hex(16);
  HttpRequest begin = request("POST", key);
  begin.query = "uploads=";
  begin.headers = {"Content-Type: application/octet-stream", concat(mark_header, ": ", mark)};
  const auto answer = send(begin, key, "begin to write it");
  if (!answer) return answer.error();
  const auto fields = read_xml(answer->body);
  const std::string id =
      fields ? text_of(*fields, "InitiateMultipartUploadResult/UploadId") : std::string();
  if (id.empty()) {
    return lost({Errc::io, "want the name of an upload, found none"}, key, "begin to write it");
  }
  return concat(mark, " ", id);
}

Result<std::string> S3Client::put_piece(const std::string& key, const std::string& upload,
                                        std::uint32_t number, const std::vector<Bytes>& pieces) {
  HttpRequest put = request("PUT", key);
  put.query = concat("partNumber=", number, "&uploadId=", url_encoded(id_of(upload), false));
  put.headers = {"Content-Type: application/octet-stream"};
  put.body = pieces;
  const auto answer = send(put, key, concat("write piece ", number, " of it"));
  if (!answer) return answer.error();
  const std::string tag = answer->header("etag");
  if (tag.empty()) {
    return lost({Errc::io, "want the tag of a piece, found none"}, key, "write it");
  }
  return tag;
}

Result<Done> S3Client::finish_upload(const std::string& key, const std::string& upload,
                                     const std::vector<std::string>& tags) {
  std::string list = "<CompleteMultipartUpload>";
  for (std::size_t i = 0; i < tags.size(); ++i) {
    std::string tag;
    for (const char c : tags[i]) {
      if (c != '<' && c != '&') tag += c;
    }
    list += concat("<Part><PartNumber>", i + 1, "</PartNumber><ETag>", tag, "</ETag></Part>");
  }
  list += "</CompleteMultipartUpload>";
  HttpRequest finish = request("POST", key);
  finish.query = concat("uploadId=", url_encoded(id_of(upload), false));
  finish.headers = {"Content-Type: application/xml"};
  finish.body = {as_bytes(list)};
  Pauses pauses(patience_.retry_for);
  while (true) {
    const auto answer = send(finish, key, "finish writing it");
    // One that an earlier try has finished is unknown by now, and the object says so.
    if (!answer && answer.error().code == Errc::not_found) {
      const auto there = send(request("HEAD", key), key, "look for it");
      if (there && there->header(mark_header) == mark_of(upload)) return Done{};
    }
    if (!answer) return answer.error();
    // It may have begun to answer before it knew.
    const auto fields = read_xml(answer->body);
    if (fields && text_of(*fields, "Error/Code").empty()) return Done{};
    HttpAnswer failed{.status = 500, .headers = {}, .body = answer->body};
    if (!pauses.pass()) return error_of(failed, key, "finish writing it");
  }
}

void S3Client::abort_upload(const std::string& key, const std::string& upload) {
  HttpRequest abort = request("DELETE", key);
  abort.query = concat("uploadId=", url_encoded(id_of(upload), false));
  [[maybe_unused]] const auto answer = http_->send(abort);
}

}  // namespace piracema::store
