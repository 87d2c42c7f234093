#include "cluster/driver/tenure.h"

#include <memory>
#include <utility>

#include "cluster/driver/record_log.h"

namespace piracema::cluster {

void Tenure::begin(net::Poller& poller, std::function<void(int number)> signalled) {
  if (leading_ == nullptr) return;
  leading_->at_work->set(
      {.depose = [this, &poller] { poller.post([this] { depose(); }); },
       .signal = [&poller, signalled = std::move(signalled)](
                     int number) { poller.post([signalled, number] { signalled(number); }); }});
}

Result<Done> Tenure::let_others_follow(const std::string& snapshots, const std::string& token,
                                       std::chrono::milliseconds keep,
                                       const JobMetadata& metadata) {
  auto log = leading_ != nullptr ? leading_->log(snapshots, token, keep)
                                 : std::make_unique<RecordLog>(snapshots, token, keep);
  auto begun = Succession::begin(std::move(log), snapshots, token, keep, metadata);
  if (!begun) {
    // Somebody has claimed the job meanwhile.
    if (leading_ != nullptr && begun.error().code == Errc::refused) depose();
    return begun.error();
  }
  succession_ = *std::move(begun);
  return Done{};
}

bool Tenure::decided(const std::vector<Decision>& decisions, const JobMetadata& now) {
  if (is_over_) return false;
  if (!succession_ || succession_->decided(decisions, now)) return true;
  depose();
  return false;
}

void Tenure::depose() {
  is_over_ = true;
  over_();
}

bool Tenure::end(const std::optional<Error>& failure) {
  if (leading_ == nullptr) return false;
  leading_->at_work->set({});
  leading_->at_work->has_left({});
  leading_->deposed = is_over_;
  leading_->failed = !is_over_ && failure && leading_->left;
  leading_->may_try_again = leading_->failed && failure->code == Errc::timeout;
  return is_over_ || leading_->failed;
}

}  // namespace piracema::cluster
