#pragma once

#include <piracema/error.h>

#include <string>
#include <string_view>

namespace piracema::tools {

/// Where a job is shown, and the token if one was given with it.
struct JobAddress {
  /// "127.0.0.1:8080", or a name and a port.
  std::string host_port;
  std::string token;
};

/// "8080", "127.0.0.1:8080", "node7:8080" or "http://127.0.0.1:8080/?token=…". Errc::usage.
Result<JobAddress> parse_job_address(std::string_view text);
/// The same, or a path, "/…" or "./…", of a file with it ($PIRACEMA_HTTP_FILE of the job); with the
/// token that stands in another file (--http-token); empty: in none. Errc::config.
Result<JobAddress> find_job(std::string_view text, const std::string& token_file);
/// What a command ends with that could not find its job.
inline int exit_code_of(const Error& error) { return error.code == Errc::usage ? 2 : 3; }

struct HttpAnswer {
  int code = 0;
  std::string body;
};
/// What comes for a POST of `path`, without a body, whatever its code. Limits and errors as those
/// of `http_get`.
Result<HttpAnswer> http_post(const JobAddress& address, const std::string& path);

/// What comes for GET of `path`: waits 5 seconds at most for each piece, and takes 16 MiB at most.
/// Errc::io without an answer, Errc::timeout for 503 (not now) and Errc::refused for any other that
/// is not 200, with its first line, Errc::corrupt for what is no HTTP.
Result<std::string> http_get(const JobAddress& address, const std::string& path);

}  // namespace piracema::tools
