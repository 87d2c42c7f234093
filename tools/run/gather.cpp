#include "tools/run/gather.h"

#include <utility>

#include "council/convener.h"
#include "council/council.h"
#include "council/page_relay.h"
#include "council/remote_coordinator.h"
#include "tools/run/shown_job.h"

namespace piracema::tools {

namespace {

class Council : public Coordinators {
 public:
  explicit Council(std::unique_ptr<council::Council> own) : own_(std::move(own)) {}
  cluster::JobReport run(const cluster::JobOptions& options,
                         cluster::JobObserver& observer) override {
    return own_->run(options, observer);
  }
  bool has_led() const override { return own_->has_led(); }
  void end(const cluster::JobReport& report) override { own_->end(report); }

 private:
  std::unique_ptr<council::Council> own_;
};

/// This process leads to one on another host, and has nothing to say itself.
class CouncilElsewhere : public Coordinators {
 public:
  explicit CouncilElsewhere(std::unique_ptr<council::RemoteCoordinator> there)
      : there_(std::move(there)) {}
  cluster::JobReport run(const cluster::JobOptions&, cluster::JobObserver&) override {
    there_->run();
    return {};
  }
  bool has_led() const override { return false; }
  void end(const cluster::JobReport&) override {}

 private:
  std::unique_ptr<council::RemoteCoordinator> there_;
};

}  // namespace

Result<int> convene(const RunCommand& command, const std::vector<std::string>& words) {
  const auto pages = std::make_shared<council::PageRelay>();
  // Known before there is a job: whether it can be shown there.
  const auto shown = show_job(command, pages);
  if (!shown) return shown.error();
  auto convener =
      command.join ? council::Convener::join(command.job, *pages)
                   : council::Convener::convene(command.coordinators, words, command.job, *pages);
  if (!convener) return convener.error();
  if (command.leave_with_host) (*convener)->leave_with_host(command.hostfile);
  return (*convener)->run();
}

Result<std::unique_ptr<Coordinators>> gather(const RunCommand& command,
                                             const std::vector<std::string>& words) {
  if (auto bringer = council::take_bringer()) {
    auto there = council::RemoteCoordinator::bring(*std::move(bringer), words, command.job);
    if (!there) return there.error();
    return std::unique_ptr<Coordinators>(std::make_unique<CouncilElsewhere>(*std::move(there)));
  }
  auto own = council::Council::open(command.job, words);
  if (!own) return own.error();
  return std::unique_ptr<Coordinators>(std::make_unique<Council>(*std::move(own)));
}

}  // namespace piracema::tools
