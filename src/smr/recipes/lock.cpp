#include <piracema/smr/lock.h>

#include <atomic>
#include <utility>

#include "base/text.h"
#include "smr/recipes/ask.h"

namespace piracema::smr::kv {

namespace {

/// A lease that is lost before the lock was had is nobody's business.
enum class Stage { wanted, had, lost };

/// One who wants the lock, until the entry is its own.
class Applicant {
 public:
  Applicant(Invoker& invoker, const std::string& key, const LockOptions& options)
      : invoker_(invoker), key_(key), options_(options) {}

  /// The token, once the entry is this one's; nullopt: somebody else has it.
  Result<std::optional<Index>> try_once() {
    const auto seen = look(invoker_, Get{key_});
    if (!seen) return seen.error();
    if (seen->status == Status::ok) return judge(seen->entries);
    if (seen->status != Status::not_found) return unexpected("the entry of a lock", *seen);
    // A lease is kept through many attempts, and made only when there is something to be had.
    if (!lease_ || !lease_->alive()) {
      auto granted = grant();
      if (!granted) return granted.error();
      lease_ = *std::move(granted);
    }
    const auto put = change(
        invoker_, Put{.key = key_, .value = options_.holder, .expected = 0, .lease = lease_->id()});
    if (!put) return put.error();
    if (put->status == Status::ok || put->status == Status::conflict) return judge(put->entries);
    if (put->status == Status::no_lease) return std::optional<Index>();
    return unexpected("a lock", *put);
  }

  const std::string& holder() const { return holder_; }
  /// Null if it was lost meanwhile.
  std::unique_ptr<Lease> take_lease() {
    Stage stage = Stage::wanted;
    if (!stage_->compare_exchange_strong(stage, Stage::had)) return nullptr;
    return std::move(lease_);
  }

 private:
  Result<std::unique_ptr<Lease>> grant() {
    stage_ = std::make_shared<std::atomic<Stage>>(Stage::wanted);
    LeaseOptions options = options_.lease;
    options.lost = [stage = stage_, lost = options_.lease.lost] {
      if (stage->exchange(Stage::lost) == Stage::had && lost) lost();
    };
    return Lease::grant(invoker_, options);
  }

  // An entry with this one's lease is its own, though it never heard so: the answer was lost.
  std::optional<Index> judge(const std::vector<Entry>& entries) {
    if (entries.size() != 1) return std::nullopt;
    if (lease_ && entries[0].lease == lease_->id()) return entries[0].created;
    holder_ = entries[0].value;
    return std::nullopt;
  }

  Invoker& invoker_;
  const std::string& key_;
  const LockOptions& options_;
  std::unique_ptr<Lease> lease_;
  std::shared_ptr<std::atomic<Stage>> stage_;
  std::string holder_;
};

}  // namespace

Result<std::unique_ptr<Lock>> Lock::acquire(Invoker& invoker, const std::string& key,
                                            const LockOptions& options,
                                            std::optional<std::chrono::milliseconds> patience) {
  Applicant applicant(invoker, key, options);
  Waiting waiting(patience);
  while (true) {
    const auto token = applicant.try_once();
    if (token && *token) {
      auto lease = applicant.take_lease();
      if (lease) return std::unique_ptr<Lock>(new Lock(std::move(lease), {key, **token}));
    }
    if (!token && token.error().code != Errc::timeout) return token.error();
    if (waiting.again()) continue;
    if (!token) return token.error();
    return Error{Errc::timeout,
                 concat("want the lock ", key, ", found it held by ",
                        applicant.holder().empty() ? "somebody" : applicant.holder())};
  }
}

Lock::Lock(std::unique_ptr<Lease> lease, Fence fence)
    : lease_(std::move(lease)), fence_(std::move(fence)) {
  lease_->guard(fence_);
}
Lock::~Lock() = default;

}  // namespace piracema::smr::kv
