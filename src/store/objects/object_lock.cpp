#include "store/objects/object_lock.h"

#include <unistd.h>

#include <array>
#include <utility>

#include "base/crypto.h"
#include "base/hint.h"
#include "base/log.h"
#include "base/no_signals.h"
#include "base/text.h"

namespace piracema::store {

namespace {

std::string this_process() {
  std::array<char, 65> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  return concat("process ", ::getpid(), " on host ", host.data());
}

Lease::Owner owner_of(const JobClaim& claim) {
  std::string writer = random_hex(16);
  std::string job = claim.job.empty() ? writer : claim.job;
  return {std::move(job), std::move(writer), this_process(), claim.keeps};
}

Error in_use(const std::string& name, const std::string& holder) {
  return {Errc::refused,
          with_hint(concat(name, ": want it for one job alone, found it in use by ", holder),
                    "name another place, or wait until that process has ended")};
}

}  // namespace

ObjectLock::ObjectLock(std::unique_ptr<ObjectClient> client, std::string key, std::string name,
                       const JobClaim& claim, Lease::Settings settings)
    : client_(std::move(client)),
      key_(std::move(key)),
      name_(std::move(name)),
      lease_(owner_of(claim), settings) {}

Result<std::shared_ptr<ObjectLock>> ObjectLock::take(std::unique_ptr<ObjectClient> client,
                                                     std::string key, std::string name,
                                                     const JobClaim& claim,
                                                     Lease::Settings settings) {
  std::shared_ptr<ObjectLock> lock(
      new ObjectLock(std::move(client), std::move(key), std::move(name), claim, settings));
  if (auto taken = lock->take(now() + 3 * settings.term); !taken) return taken.error();
  // Of one that the job has already it is known, and workers wait for whoever takes it over.
  if (!lock->lease_.was_ours()) {
    if (auto checked = lock->check_conditions(); !checked) return checked.error();
  }
  const NoSignals no_signals;
  lock->keeper_ = std::thread([own = lock.get()] { own->keep(); });
  return lock;
}

ObjectLock::~ObjectLock() {
  {
    const std::lock_guard guard(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  if (keeper_.joinable()) keeper_.join();
  if (lease_.holds() && !left_) perform(lease_.give_back(now()));
}

Lease::Event ObjectLock::perform(const Lease::Action& action) {
  unclear_.reset();
  if (const auto* write = std::get_if<Lease::Write>(&action)) {
    auto tag = client_->write_lease(key_, write->text, write->if_match);
    if (tag) return Lease::WasWritten{*std::move(tag)};
    if (tag.error().code == Errc::refused) return Lease::NotWritten{};
    unclear_ = tag.error();
    return Lease::Unclear{};
  }
  auto read = client_->read_lease(key_);
  if (read) return Lease::WasRead{*std::move(read)};
  unclear_ = read.error();
  return Lease::Unclear{};
}

Result<Done> ObjectLock::take(Time until) {
  action_ = lease_.step(now(), Lease::Tick{});
  bool told = false;
  while (!lease_.holds()) {
    if (const auto* refused = std::get_if<Lease::Refused>(&action_)) {
      return in_use(name_, refused->holder);
    }
    Lease::Event event = Lease::Tick{};
    if (const auto* wait = std::get_if<Lease::Wait>(&action_)) {
      if (!std::exchange(told, true)) {
        log(Level::info,
            concat(name_, ": another job had it; waiting to see whether it still does, for up to ",
                   std::chrono::ceil<std::chrono::seconds>(wait->taken_at - now()).count(), " s"));
      }
      std::this_thread::sleep_for(wait->until - now());
    } else {
      event = perform(action_);
    }
    // What cannot be asked for now is not asked for ever, and what will never be done not again.
    if (unclear_ && (unclear_->code != Errc::timeout || now() > until ||
                     std::holds_alternative<Lease::Read>(action_))) {
      return *unclear_;
    }
    action_ = lease_.step(now(), event);
  }
  return Done{};
}

// A server that knows no conditions writes all the same.
Result<Done> ObjectLock::check_conditions() {
  const Lease::Write ours = lease_.give_back(now());
  for (const char* wrong : {"", "\"00000000000000000000000000000000\""}) {
    const auto written = client_->write_lease(key_, ours.text, wrong);
    if (!written && written.error().code == Errc::refused) continue;
    if (!written) return written.error();
    return Error{Errc::refused,
                 concat(name_,
                        ": want a server that writes under conditions (If-None-Match, "
                        "If-Match), found that ",
                        client_->endpoint(), " passes them over")};
  }
  return Done{};
}

void ObjectLock::keep() {
  std::unique_lock guard(mutex_);
  while (!over_) {
    if (const auto* lost = std::get_if<Lease::Lost>(&action_)) {
      const Error why = in_use(name_, lost->holder);
      // Whoever hears of it may be about to ask for is_valid(), with a lock of its own.
      guard.unlock();
      tell(why);
      return;
    }
    Lease::Event event = Lease::Tick{};
    if (const auto* wait = std::get_if<Lease::Wait>(&action_)) {
      const auto left = wait->until - now();
      if (changed_.wait_for(guard, left, [this] { return over_; })) return;
    } else {
      const Lease::Action action = action_;
      guard.unlock();
      event = perform(action);
      guard.lock();
    }
    action_ = lease_.step(now(), event);
  }
}

void ObjectLock::tell(const Error& why) {
  const std::lock_guard guard(loss_mutex_);
  lost_ = why;
  if (on_lost_) on_lost_(why);
}

void ObjectLock::when_lost(std::function<void(const Error&)> lost) {
  const std::lock_guard guard(loss_mutex_);
  on_lost_ = std::move(lost);
  if (on_lost_ && lost_) on_lost_(*lost_);
}

bool ObjectLock::is_valid() const {
  const std::lock_guard guard(mutex_);
  return lease_.is_valid(now());
}

}  // namespace piracema::store
