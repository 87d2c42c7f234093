#include "host/hostfile_watch.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/no_signals.h"
#include "base/text.h"
#include "host/host_list.h"

namespace piracema::cluster {

namespace {

constexpr std::chrono::milliseconds look_every{500};

// What the file says, or what is wrong with it: either may change.
std::string text_of(const Result<HostList>& list) {
  if (!list) return concat("!", list.error().message);
  std::string text;
  for (const HostList::Host& one : list->hosts) {
    text += concat(one.host.name, ":", list->counted ? one.places : 0, "\n");
  }
  return text;
}

}  // namespace

HostfileWatch::HostfileWatch(std::string file, std::vector<HostOptions> known, Events events)
    : file_(std::move(file)), events_(std::move(events)), known_(std::move(known)) {
  const NoSignals no_signals;
  thread_ = std::thread([this] { run(); });
}

HostfileWatch::~HostfileWatch() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ends_.notify_all();
  thread_.join();
}

void HostfileWatch::run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    lock.unlock();
    look();
    lock.lock();
    ends_.wait_for(lock, look_every, [this] { return ending_; });
  }
}

void HostfileWatch::look() {
  const auto list = read_hostfile(file_);
  std::string text = text_of(list);
  const bool is_settled = seen_ == text;
  seen_ = text;
  if (!is_settled) return;
  if (told_ == text) return complaint_.clear();
  if (!list) return complain(list.error().message);
  std::vector<ListedHost> hosts;
  for (const HostList::Host& one : list->hosts) {
    auto host = find(one.host);
    if (!host) return complain(host.error().message);
    hosts.push_back({*std::move(host), list->counted ? std::optional(one.places) : std::nullopt});
  }
  told_ = std::move(text);
  complaint_.clear();
  events_.changed(std::move(hosts));
}

// A name that is not known now may be known at the next look.
void HostfileWatch::complain(const std::string& why) {
  if (std::exchange(complaint_, why) != why) events_.unusable(why);
}

Result<HostOptions> HostfileWatch::find(const HostName& name) {
  const auto has_name = [](const std::string& wanted) {
    return [&](const HostOptions& host) { return host.name == wanted; };
  };
  const std::string short_name = name.name.substr(0, name.name.find('='));
  const auto found = std::find_if(known_.begin(), known_.end(), has_name(short_name));
  if (found != known_.end()) return *found;
  std::vector<std::size_t> numbers;
  auto hosts = find_hosts({name}, numbers);
  if (!hosts) return hosts.error();
  known_.push_back(hosts->front());
  return known_.back();
}

}  // namespace piracema::cluster
