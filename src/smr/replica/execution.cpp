#include "smr/replica/execution.h"

namespace piracema::smr {

Execution::Execution(net::Poller& poller, StateMachine& machine, std::uint32_t threads,
                     std::unique_ptr<Executor> executor, Host host)
    : poller_(poller), host_(std::move(host)), executor_(std::move(executor)) {
  ReplySink replies = [this](std::vector<Reply> some) {
    for (Reply& reply : some) host_.reply(std::move(reply));
  };
  Service::AdmissionSink admissions = host_.admitted;
  if (threads > 0) {
    admissions = [this](const std::vector<Admission>& some) {
      tell([this, some] { host_.admitted(some); });
    };
    replies = [this](std::vector<Reply> some) {
      tell([this, some = std::move(some)]() mutable {
        for (Reply& reply : some) host_.reply(std::move(reply));
      });
    };
  }
  service_ = std::make_unique<Service>(ServiceSettings{}, machine, *executor_, std::move(replies),
                                       std::move(admissions));
  if (threads > 0) {
    thread_ = std::make_unique<ServiceThread>(
        *service_, [this](Instance instance, std::optional<std::uint64_t> timer) {
          tell([this, instance, timer] { host_.executed(instance, timer); });
        });
  }
}

Execution::~Execution() {
  if (writer_.joinable()) writer_.join();
  thread_.reset();
  alive_.reset();
}

void Execution::tell(std::function<void()> what) {
  poller_.post([alive = std::weak_ptr<bool>(alive_), what = std::move(what)] {
    if (!alive.expired()) what();
  });
}

void Execution::execute(Execute decided) {
  if (thread_) return thread_->execute(std::move(decided));
  waiting_.push_back(std::move(decided));
}

void Execution::run() {
  if (waiting_.empty()) return;
  const std::vector<Execute> batches = std::move(waiting_);
  waiting_.clear();
  service_->execute(batches);
  host_.executed(batches.back().instance, service_->timer());
}

void Execution::post(std::function<void(Service&)> what) {
  if (thread_) return thread_->post(std::move(what));
  run();
  what(*service_);
}

void Execution::query(Buffer operation, std::function<void(Buffer)> done) {
  const bool here = thread_ == nullptr;
  post([this, here, operation = std::move(operation), done = std::move(done)](Service& service) {
    Buffer result = service.query(operation);
    if (here) return done(std::move(result));
    tell([done, result = std::move(result)] { done(result); });
  });
}

void Execution::tell_trail(TrailRequest asked, std::function<void(Trail)> told) {
  const bool here = thread_ == nullptr;
  post([this, here, asked, told = std::move(told)](Service& service) {
    Trail trail = service.trail(asked);
    if (here) return told(std::move(trail));
    tell([told, trail = std::move(trail)] { told(trail); });
  });
}

void Execution::stable(Instance instance) {
  post([instance](Service& service) { service.stable(instance); });
}

void Execution::answer_again(Request request, std::function<void(Request)> fresh) {
  const bool here = thread_ == nullptr;
  post([this, here, request = std::move(request), fresh = std::move(fresh)](Service& service) {
    if (service.answer_again(request)) return;
    if (here) return fresh(request);
    tell([fresh, request] { fresh(request); });
  });
}

void Execution::take_checkpoint(const TakeCheckpoint& due, Pieces pieces,
                                std::function<void(Checkpoint)> taken,
                                std::function<void()> skipped) {
  const auto told = [this, taken = std::move(taken)](Checkpoint checkpoint) {
    tell([taken, checkpoint = std::move(checkpoint)] { taken(checkpoint); });
  };
  if (thread_) {
    return thread_->take_checkpoint(due, pieces, told, [this, skipped] { tell(skipped); });
  }
  run();
  const bool worth_it = service_->checkpoint_due(due.ordered);
  if (!due.wanted) return;
  if (!worth_it) return tell(skipped);
  // The last one has long been written: checkpoints are far apart.
  if (writer_.joinable()) writer_.join();
  writer_ = std::thread([write = service_->snapshot(pieces), told] { told(write()); });
}

void Execution::restore(Instance instance, std::shared_ptr<const Buffer> image,
                        std::function<void(Result<Done>)> done) {
  const bool here = thread_ == nullptr;
  post([this, here, instance, image, done = std::move(done)](Service& service) {
    Result<Done> result = service.restore(instance, *image);
    const auto told = [this, done, result, instance, timer = service.timer()] {
      done(result);
      if (result) host_.executed(instance, timer);
    };
    if (here) return told();
    tell(told);
  });
}

}  // namespace piracema::smr
