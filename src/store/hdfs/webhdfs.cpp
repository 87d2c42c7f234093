#include "store/hdfs/webhdfs.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "store/http/pauses.h"
#include "store/http/url_text.h"

namespace piracema::store {

namespace {

using nlohmann::json;

constexpr std::size_t location_bytes_max = 16 << 10;
// {"FileStatuses": {"FileStatus": [{"length": 1}]}}
constexpr int answer_depth_max = 8;

// Nothing of what a stranger says is an exception, or deep.
json parsed(const Buffer& body) {
  const auto check = [](int depth, json::parse_event_t, json&) { return depth < answer_depth_max; };
  const std::string_view text = as_text(body);
  return json::parse(text.begin(), text.end(), check, false);
}

const json& member(const json& object, const char* name) {
  static const json none;
  if (!object.is_object()) return none;
  const auto found = object.find(name);
  return found == object.end() ? none : *found;
}

std::string text_of(const json& object, const char* name) {
  const json& value = member(object, name);
  return value.is_string() ? value.get<std::string>() : "";
}

std::uint64_t number_of(const json& object, const char* name) {
  const json& value = member(object, name);
  return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
}

std::optional<WebHdfs::Status> status_of(const json& entry) {
  const std::string type = text_of(entry, "type"), name = text_of(entry, "pathSuffix");
  if ((type != "FILE" && type != "DIRECTORY") || name.find('/') != name.npos) return std::nullopt;
  return WebHdfs::Status{name, type == "DIRECTORY", number_of(entry, "length"),
                         number_of(entry, "fileId"), number_of(entry, "modificationTime")};
}

// A cluster that starts, changes its name node or loses a data node says so, and goes on later. A
// pipeline of data nodes that breaks is a plain IOException.
bool passes(const std::string& exception) {
  constexpr std::array reasons{"StandbyException",          "SafeModeException",
                               "RetriableException",        "RecoveryInProgressException",
                               "NotReplicatedYetException", "AlreadyBeingCreatedException",
                               "LeaseExpiredException",     "IOException"};
  return std::find(reasons.begin(), reasons.end(), exception) != reasons.end();
}

Error error_of(const HttpAnswer& answer) {
  const json document = parsed(answer.body);
  const json& says = member(document, "RemoteException");
  const std::string exception = one_line(text_of(says, "exception"));
  std::string message = one_line(text_of(says, "message"));
  message = concat("status ", answer.status, exception.empty() ? "" : " ", exception,
                   message.empty() ? "" : ": ", message);
  Errc code = Errc::io;
  if (exception == "FileNotFoundException") code = Errc::not_found;
  if (exception == "FileAlreadyExistsException") code = Errc::refused;
  if (answer.status >= 500 || answer.status == 429 || answer.status == 408 || passes(exception)) {
    code = Errc::timeout;
  }
  return {code, std::move(message)};
}

}  // namespace

Result<std::unique_ptr<WebHdfs>> WebHdfs::make(const HdfsAddress& address,
                                               ObjectPatience patience) {
  auto user = hdfs_user();
  if (!user) return user.error();
  auto http = HttpClient::make("HDFS", std::nullopt, patience.request);
  if (!http) return http.error();
  return std::unique_ptr<WebHdfs>(
      new WebHdfs(*std::move(http), address, *std::move(user), patience));
}

WebHdfs::WebHdfs(std::unique_ptr<HttpClient> http, const HdfsAddress& address, std::string user,
                 ObjectPatience patience)
    : http_(std::move(http)),
      endpoint_(address.endpoint()),
      root_(address.root()),
      user_(std::move(user)),
      patience_(patience) {}

Error WebHdfs::lost(const Error& why, const Request& request) const {
  return {why.code, concat(root_, request.path, ": cannot ", request.what, " at ", endpoint_, ": ",
                           why.message)};
}

// The name node says which data node does it, as an answer or, before Hadoop 3, by a redirection.
Result<HttpAnswer> WebHdfs::try_once(const Request& request) {
  HttpRequest first{
      .method = request.method,
      .url = concat(endpoint_, "/webhdfs/v1/", url_encoded(request.path, true)),
      .query = concat("op=", request.operation, "&user.name=", url_encoded(user_, false),
                      request.by_data_node ? "&noredirect=true" : ""),
      .headers = {"Content-Type: application/octet-stream"},
      .answer_bytes_max = request.by_data_node ? location_bytes_max : request.answer_bytes_max};
  auto answer = http_->send(first);
  if (!answer || !request.by_data_node) return answer;
  if (answer->status != 200 && answer->status != 307) return answer;
  std::string location = answer->header("location");
  if (location.empty()) location = text_of(parsed(answer->body), "Location");
  if (location.empty()) return Error{Errc::io, "want the address of a data node, found none"};
  const bool plain =
      std::all_of(location.begin(), location.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (!plain) return Error{Errc::io, "want the address of a data node, found another text"};
  if (endpoint_.starts_with("https://") && !location.starts_with("https://")) {
    return Error{Errc::io, concat("want a data node by TLS, found ", one_line(location))};
  }
  return http_->send({.method = request.method,
                      .url = std::move(location),
                      .headers = {"Content-Type: application/octet-stream"},
                      .body = request.body,
                      .answer_bytes_max = request.answer_bytes_max});
}

Result<HttpAnswer> WebHdfs::send(const Request& request) {
  Pauses pauses(patience_.retry_for);
  while (true) {
    auto answer = try_once(request);
    if (answer && answer->status >= 200 && answer->status < 300) return answer;
    const Error why = answer ? error_of(*answer) : answer.error();
    if (why.code == Errc::timeout && pauses.pass()) continue;
    return lost(why, request);
  }
}

Result<WebHdfs::Status> WebHdfs::status(const std::string& path) {
  const Request request{
      .method = "GET", .path = path, .operation = "GETFILESTATUS", .what = "look for it"};
  const auto answer = send(request);
  if (!answer) return answer.error();
  const json document = parsed(answer->body);
  if (auto status = status_of(member(document, "FileStatus"))) return *std::move(status);
  return lost({Errc::io, "want the status of a file, found something else"}, request);
}

Result<std::vector<WebHdfs::Status>> WebHdfs::list(const std::string& path) {
  const Request request{.method = "GET",
                        .path = path,
                        .operation = "LISTSTATUS",
                        .answer_bytes_max = std::size_t{64} << 20,
                        .what = "list what is in it"};
  const auto answer = send(request);
  if (!answer) return answer.error();
  const json document = parsed(answer->body);
  const json& entries = member(member(document, "FileStatuses"), "FileStatus");
  std::vector<Status> all;
  bool right = entries.is_array();
  for (std::size_t i = 0; right && i < entries.size(); ++i) {
    auto status = status_of(entries[i]);
    right = status.has_value();
    if (right) all.push_back(*std::move(status));
  }
  if (!right) return lost({Errc::io, "want a list of files, found something else"}, request);
  return all;
}

Result<Buffer> WebHdfs::read(const std::string& path, std::uint64_t offset, std::uint64_t bytes) {
  const Request request{.method = "GET",
                        .path = path,
                        .operation = concat("OPEN&offset=", offset, "&length=", bytes),
                        .by_data_node = true,
                        .answer_bytes_max = std::max<std::size_t>(bytes, std::size_t{64} << 10),
                        .what = "read it"};
  auto answer = send(request);
  if (!answer) return answer.error();
  if (answer->body.size() == bytes) return std::move(answer->body);
  return lost(
      {Errc::io, concat("want ", bytes, " bytes at ", offset, ", found ", answer->body.size())},
      request);
}

Result<Done> WebHdfs::create(const std::string& path, const std::vector<Bytes>& pieces) {
  const auto answer = send({.method = "PUT",
                            .path = path,
                            .operation = "CREATE&overwrite=true",
                            .by_data_node = true,
                            .body = pieces,
                            .what = "write it"});
  if (!answer) return answer.error();
  return Done{};
}

Result<Done> WebHdfs::rename(const std::string& from, const std::string& to, bool replaces) {
  const Request request{
      .method = "PUT",
      .path = from,
      .operation = concat("RENAME&renameoptions=", replaces ? "OVERWRITE" : "NONE",
                          "&destination=", url_encoded("/" + to, false)),
      .what = concat("rename it to /", to)};
  const auto answer = send(request);
  if (!answer) return answer.error();
  return Done{};
}

Result<Done> WebHdfs::append_files(const std::string& path,
                                   const std::vector<std::string>& sources) {
  std::string list;
  for (const std::string& source : sources) list += concat(list.empty() ? "/" : ",/", source);
  const auto answer = send({.method = "POST",
                            .path = path,
                            .operation = concat("CONCAT&sources=", url_encoded(list, false)),
                            .what = "put its pieces together"});
  if (!answer) return answer.error();
  return Done{};
}

Result<Done> WebHdfs::remove(const std::string& path) {
  const auto answer = send({.method = "DELETE",
                            .path = path,
                            .operation = "DELETE&recursive=false",
                            .what = "remove it"});
  if (!answer && answer.error().code != Errc::not_found) return answer.error();
  return Done{};
}

}  // namespace piracema::store
