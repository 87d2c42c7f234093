#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "wire/frame.h"

/// What the coordinator that leads, of several, and those that look on say to each other, once a
/// handshake has shown that both have the key of the job. These are the command, which is none of
/// the coordinators, and a coordinator that the others do not answer.
namespace piracema::cluster {

/// The first message.
struct OnlookerHello {
  auto fields() { return std::tie(); }
};
/// The command was given a signal. `id` is another one for each, so that what comes by several ways
/// counts once.
struct HandedOnSignal {
  std::uint32_t number = 0;
  std::uint64_t id = 0;
  auto fields() { return std::tie(number, id); }
};
/// The command serves the job's page and is asked for something of it (observe/http), by somebody
/// who may. Each has another `id`.
struct PageAsked {
  std::uint64_t id = 0;
  std::string method, path, accept;
  /// Arguments of the address, by their names.
  std::map<std::string, std::string> arguments;
  auto fields() { return std::tie(id, method, path, accept, arguments); }
};
/// What the page shows of the past (observe::JobPast). Whoever leads tells it to those that look
/// on, and they tell it to the next one.
struct PastOfJob {
  Buffer past;
  auto fields() { return std::tie(past); }
};
using FromOnlooker = std::variant<OnlookerHello, HandedOnSignal, PageAsked, PastOfJob>;

/// The coordinator is there, and says so several times a second. Who hears nothing for so long
/// looks whether another one leads.
struct LeaderNews {
  std::uint32_t others_after_ms = 0;
  /// Where all coordinators are by now.
  std::vector<std::string> coordinators;
  auto fields() { return std::tie(others_after_ms, coordinators); }
};
/// The job is over, with this exit code. Nothing follows.
struct JobOver {
  std::uint32_t code = 0;
  auto fields() { return std::tie(code); }
};
/// The answer to the question with this number, as HTTP has it.
struct PageAnswered {
  std::uint64_t id = 0;
  std::uint32_t code = 0;
  std::string type, body;
  std::map<std::string, std::string> headers;
  auto fields() { return std::tie(id, code, type, body, headers); }
};
using ToOnlooker = std::variant<LeaderNews, JobOver, PageAnswered, PastOfJob>;

wire::Frame to_frame(const FromOnlooker&);
wire::Frame to_frame(const ToOnlooker&);
/// Errc::corrupt.
Result<FromOnlooker> from_onlooker(const wire::Frame&);
Result<ToOnlooker> to_onlooker(const wire::Frame&);

}  // namespace piracema::cluster
