#include "forecast/store/store_watch.h"

#include <sys/epoll.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <thread>

#include "base/log.h"
#include "base/text.h"

namespace piracema::ckpt {

namespace {

/// With less time left before the last dump the store is looked at more often.
constexpr double soon_seconds = 30;
/// What is not remembered by then is forgotten.
constexpr Time remember_limit = std::chrono::seconds(2);
/// A sample may take as long, and says nothing of how the store fares until it has ended.
constexpr double long_sample_seconds = 10;
/// One that was given up would have taken longer than it had.
constexpr double given_up_factor = 1.5;

double seconds_since(Time begin) { return std::chrono::duration<double>(now() - begin).count(); }

// Processes that want a core (the load of the last minute), for each core.
double busy() {
  double load = 0;
  std::ifstream("/proc/loadavg") >> load;
  return load / static_cast<double>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace

Result<std::unique_ptr<StoreWatch>> StoreWatch::start(net::Poller& poller,
                                                      const std::string& job_directory,
                                                      std::size_t hosts, bool compressed) {
  const auto place = store_place(job_directory);
  if (!place) return place.error();
  const auto past = read_past_dumps(*place);
  if (!past) {
    log(Level::warning, concat(past.error().message, "; nothing is known of this store"));
  }
  auto scout = StoreScout::start(*place);
  if (!scout) return scout.error();
  return std::unique_ptr<StoreWatch>(new StoreWatch(poller, hosts, compressed,
                                                    past ? learn_from(*past) : Predictor(),
                                                    StoreDevice(*place), *std::move(scout)));
}

StoreWatch::StoreWatch(net::Poller& poller, std::size_t hosts, bool compressed, Predictor predictor,
                       StoreDevice device, StoreScout scout)
    : poller_(poller),
      hosts_(hosts),
      compressed_(compressed),
      predictor_(std::move(predictor)),
      device_(std::move(device)),
      scout_(std::move(scout)) {
  poller_.watch(scout_->handle(), EPOLLIN, [this](std::uint32_t) { hear_scout(); });
}

StoreWatch::~StoreWatch() {
  if (!scout_) return;
  poller_.forget(scout_->handle());
  scout_->finish(remember_limit);
}

void StoreWatch::hear_scout() {
  const auto look = scout_->receive();
  if (look) {
    look_ = *look;
    probing_since_ = look->probing ? std::optional(now()) : std::nullopt;
    if (scout_->sampling() == 0) sampling_since_.reset();
    for (const PastDump& one : look->news) predictor_.learn(one.features, one.seconds);
  } else if (look.error().code == Errc::lost) {
    poller_.forget(scout_->handle());
    scout_.reset();
  }
}

DumpFeatures StoreWatch::features(const JobMemory& job) const {
  DumpFeatures known{.bytes = static_cast<double>(job.resident),
                     .swapped_bytes = static_cast<double>(job.swapped),
                     .processes = static_cast<double>(std::max<std::uint64_t>(1, job.processes)),
                     .dirty_bytes = device_.dirty_bytes(),
                     .writers = static_cast<double>(look_.writers + hosts_),
                     .others_bytes = look_.bytes,
                     .probe = look_.probe,
                     .busy = busy(),
                     .at = static_cast<double>(std::time(nullptr)),
                     .compressed = compressed_ ? 1.0 : 0.0};
  // A store that has not answered yet is as slow as that at least.
  if (probing_since_) known.probe = std::max(known.probe, seconds_since(*probing_since_));
  // A sample is more than a probe.
  if (sampling_since_) {
    known.probe = std::max(known.probe, seconds_since(*sampling_since_) - long_sample_seconds);
  }
  return known;
}

Outlook StoreWatch::outlook(const JobMemory& job) const {
  const DumpFeatures known = features(job);
  return {known, predictor_.forecast(known), predictor_.learnt(), sampling_.wanted()};
}

void StoreWatch::announce(const Plan& plan, Time closes, double length,
                          const DumpFeatures& features) {
  if (!scout_) return;
  scout_->announce(plan.start_in, -seconds_since(closes), features.bytes,
                   plan.start_in < soon_seconds);
  // A sample beside a dump of ours would slow it down, and tell of the two of us.
  if (dump_) return;
  const auto bytes = sampling_.step({.time = now(),
                                     .closes = closes,
                                     .length = length,
                                     .plan = plan,
                                     .job_bytes = features.bytes,
                                     .waiting_bytes = features.dirty_bytes,
                                     .learnt = predictor_.learnt(),
                                     .under_way = scout_->sampling() > 0,
                                     .refused = look_.sample_refused});
  if (!bytes) return;
  scout_->sample({.bytes = *bytes,
                  .dirty_bytes = features.dirty_bytes,
                  .probe = look_.probe,
                  .busy = features.busy,
                  .at = features.at,
                  .sample = 1});
  sampling_since_ = now();
}

void StoreWatch::begin_dump(const JobMemory& job) { dump_ = {features(job), now()}; }

double StoreWatch::dump_time() const { return dump_ ? seconds_since(dump_->second) : 0; }

void StoreWatch::end_dump(bool given_up) {
  const double seconds = dump_time() * (given_up ? given_up_factor : 1);
  if (seconds <= 0) return;
  const PastDump dump{dump_->first, seconds};
  dump_.reset();
  predictor_.learn(dump.features, dump.seconds);
  if (scout_) scout_->remember(dump);
}

}  // namespace piracema::ckpt
