#include "ckpt/keeper/workplace.h"

#include <sys/epoll.h>

#include <utility>

#include "ckpt/keeper/last_capsule.h"

namespace piracema::ckpt {

Result<std::unique_ptr<Workplace>> Workplace::start(net::Poller& poller, JobDirectory& directory,
                                                    const JobFile& job, WorkplaceSettings settings,
                                                    OnReport on_report, OnDied on_died) {
  if (auto ended = wait_for_last_capsule(directory.path()); !ended) return ended.error();
  auto guard = Guard::start();
  if (!guard) return guard.error();
  return std::unique_ptr<Workplace>(new Workplace(poller, directory, job, std::move(settings),
                                                  std::move(on_report), std::move(on_died),
                                                  *std::move(guard)));
}

Workplace::Workplace(net::Poller& poller, JobDirectory& directory, const JobFile& job,
                     WorkplaceSettings settings, OnReport on_report, OnDied on_died, Guard guard)
    : poller_(poller),
      directory_(directory),
      job_(job),
      settings_(std::move(settings)),
      on_report_(std::move(on_report)),
      on_died_(std::move(on_died)),
      guard_(std::move(guard)) {}

Result<Done> Workplace::open() {
  if (is_several()) {
    auto hosts = Hosts::open(poller_, directory_, job_.id, settings_.several, on_report_, on_died_);
    if (!hosts) return hosts.error();
    hosts_ = *std::move(hosts);
    return Done{};
  }
  auto capsule = Capsule::open(
      {.criu = settings_.criu, .hook = settings_.program, .host_name = job_.host_name});
  if (!capsule) return capsule.error();
  capsule_ = *std::move(capsule);
  note_capsule(directory_.path(), capsule_->pid());
  guard_until(guarded_until_);
  poller_.watch(capsule_->handle(), EPOLLIN, [this](std::uint32_t) { hear_capsule(); });
  return Done{};
}

void Workplace::kill() {
  hosts_.reset();
  if (!capsule_) return;
  poller_.forget(capsule_->handle());
  guard_.forget();
  capsule_->kill();
  capsule_.reset();
}

Result<Done> Workplace::send(Order order) {
  if (hosts_) return hosts_->send(std::move(order));
  if (capsule_) return capsule_->send(std::move(order));
  return Error{Errc::lost, "the capsule has ended"};
}

JobMemory Workplace::memory() const {
  if (hosts_) return hosts_->memory();
  if (capsule_) return job_memory(capsule_->pid());
  return {};
}

// Whoever is told may kill it.
void Workplace::hear_capsule() {
  while (capsule_) {
    const auto report = capsule_->receive();
    if (report) {
      on_report_(*report);
    } else if (report.error().code == Errc::not_found) {
      return;
    } else {
      poller_.forget(capsule_->handle());
      return on_died_({});
    }
  }
}

std::uint64_t Workplace::image_bytes() const {
  return capsule_ ? written_memory(capsule_->pid()) : 0;
}

// We kill it before: this is for the case that we cannot.
void Workplace::guard_until(Time end) {
  guarded_until_ = end;
  if (capsule_ && end > now()) guard_.kill_at(capsule_->process(), end);
}

}  // namespace piracema::ckpt
