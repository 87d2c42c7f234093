#include "council/followed_log.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/no_signals.h"

namespace piracema::council {

namespace {

constexpr std::chrono::seconds follows_every{1};

}  // namespace

std::vector<LoggedLine> NewLines::of(std::string_view json) {
  std::vector<LoggedLine> lines;
  const auto answer = nlohmann::json::parse(json, nullptr, false);
  if (!answer.is_object() || !answer.contains("lines") || !answer["lines"].is_array()) return lines;
  for (const auto& line : answer["lines"]) {
    if (!line.is_object() || !line.contains("at_unix") || !line.contains("text")) continue;
    const auto &at = line["at_unix"], &text = line["text"];
    if (!at.is_number() || !text.is_string()) continue;
    const auto level = line.find("level");
    const auto named = level != line.end() && level->is_string()
                           ? level_named(level->get_ref<const std::string&>())
                           : std::nullopt;
    lines.push_back({at.get<double>(), named.value_or(Level::info), text.get<std::string>()});
  }
  if (last_) {
    const auto seen = std::find_if(lines.rbegin(), lines.rend(), [&](const LoggedLine& line) {
      return line.at == last_->at && line.text == last_->text;
    });
    lines.erase(lines.begin(), seen.base());
  }
  if (!lines.empty()) last_ = lines.back();
  return lines;
}

FollowedLog::FollowedLog(observe::Pages& pages) : pages_(pages) {
  const NoSignals no_signals;
  thread_ = std::thread([this] { run(); });
}

FollowedLog::~FollowedLog() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ends_.notify_all();
  thread_.join();
}

void FollowedLog::run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    lock.unlock();
    const auto answer = pages_.get({.path = "/api/v1/log"}, now());
    if (answer.code == 200) {
      for (const LoggedLine& line : lines_.of(answer.body)) log(line.level, line.text);
    }
    lock.lock();
    ends_.wait_for(lock, follows_every, [this] { return ending_; });
  }
}

}  // namespace piracema::council
