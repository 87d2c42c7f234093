#include "run/worker/worker.h"

#include <time.h>

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "base/log.h"
#include "base/text.h"
#include "run/threads/own_threads.h"
#include "run/threads/thread_pool.h"

namespace piracema::runtime {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

std::uint64_t process_cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

Worker::Worker(const Graph& graph, WorkerSettings settings, std::function<void(FromWorker)> say)
    : graph_(graph),
      settings_(std::move(settings)),
      say_(std::move(say)),
      plan_(flow::make_plan(graph.shape)),
      dead_letters_(settings_.dead_letters) {
  if (settings_.store != nullptr) {
    writer_ = std::make_unique<SnapshotWriter>(*settings_.store, [this](
                                                                     const SnapshotWriter::Job& job,
                                                                     Result<store::Part> part) {
      if (part) {
        Saved saved{job.epoch,      job.snapshot,   job.replica, part->bytes,
                    part->checksum, job.emitted,    part->indexed};
        for (const store::PartFile& file : part->files) {
          saved.files.push_back({file.snapshot, file.replica});
        }
        say_(std::move(saved));
      } else {
        say_(SaveFailed{job.epoch, job.snapshot, job.replica, part.error().message});
      }
    });
  }
}

Worker::~Worker() {
  for (const auto& replica : replicas_) {
    if (replica) replica->quit();
  }
  for (const auto& replica : replicas_) {
    if (replica) replica->join();
  }
  writer_.reset();  // It wakes replicas whose pieces it has written.
}

// ---- what the coordinator says --------------------------------------------------------------

void Worker::handle(const ToWorker& message) {
  const auto each = [this](const std::vector<ReplicaId>& ids, auto call) {
    for (const ReplicaId id : ids) {
      if (ReplicaActor* replica = local(id)) call(*replica);
    }
  };
  if (const auto* from = std::get_if<Deploy>(&message)) {
    deploy(*from);
  } else if (const auto* wanted = std::get_if<Trigger>(&message)) {
    each(wanted->replicas,
         [&](ReplicaActor& replica) { replica.trigger(wanted->epoch, wanted->snapshot, wanted->complete); });
  } else if (const auto* taken = std::get_if<Commit>(&message)) {
    each(taken->replicas,
         [&](ReplicaActor& replica) { replica.commit(taken->epoch, taken->snapshot); });
  }
}

// Also the way back (paper 000, section 4.1): the same replicas, in the same threads, with the
// same connections, begin again from the snapshot.
void Worker::deploy(const Deploy& message) {
  ENSURE(message.placement.size() == plan_.replicas.size());
  make_replicas(message.placement);
  {
    std::lock_guard lock(mutex_);
    epoch_.store(message.epoch);
    to_begin_ = local_count_;
    to_connect_.clear();
    for (const Peer& peer : message.peers) {
      if (peer.slot != settings_.slot) to_connect_.push_back(peer);
    }
  }
  for (const Peer& peer : message.peers) {
    if (peer.slot != settings_.slot && transport_ != nullptr) {
      transport_->connect(peer.slot, peer.incarnation, peer.address);
    }
  }
  for (ReplicaId id = 0; id < replicas_.size(); ++id) {
    if (replicas_[id]) replicas_[id]->begin(message.epoch, beginning_of(message, id));
  }
  check_connected();
  std::vector<std::pair<Slot, wire::Frame>> early;
  {
    std::lock_guard lock(mutex_);
    early.swap(early_);
  }
  for (auto& [from, frame] : early) on_frame(from, std::move(frame));
}

void Worker::make_replicas(const std::vector<Slot>& placement) {
  if (!placement_.empty()) {
    ENSURE(placement_ == placement);
    return;
  }
  placement_ = placement;
  replicas_.resize(plan_.replicas.size());
  local_count_ =
      static_cast<std::size_t>(std::count(placement.begin(), placement.end(), settings_.slot));
  make_threads(local_count_);
  for (ReplicaId id = 0; id < replicas_.size(); ++id) {
    if (placement_[id] != settings_.slot) continue;
    std::atomic<std::uint64_t>* at_work = settings_.at_work ? &settings_.at_work(id) : nullptr;
    replicas_[id] =
        std::make_unique<ReplicaActor>(id, plan_.replicas[id], graph_, *this, *threads_, at_work);
  }
}

// Each thread has a core of its own where there are enough of them (paper 004, section 3:
// threadMapping). Where not, the system knows better which of them are busy.
void Worker::make_threads(std::size_t replicas) {
  const std::size_t count = settings_.threads == 0 ? replicas : settings_.threads;
  const bool enough = settings_.cores.size() >= count;
  const auto cores = enough ? settings_.cores : std::vector<std::uint32_t>();
  if (settings_.threads == 0) {
    threads_ = std::make_unique<OwnThreads>(cores, replicas == 1 ? settings_.lead : nullptr);
  } else {
    threads_ = std::make_unique<ThreadPool>(settings_.threads, cores);
  }
}

Context Worker::context_of(ReplicaId replica, const Deploy& message) const {
  const flow::ReplicaPlan& plan = plan_.replicas[replica];
  const NodeShape& node = graph_.shape.nodes[plan.node];
  const bool may_live = std::find(message.may_live.begin(), message.may_live.end(),
                                  settings_.slot) != message.may_live.end();
  return {.node = node.name,
          .replica = plan.index,
          .replicas = node.replicas,
          .rank = replica,
          .ranks = static_cast<std::uint32_t>(plan_.replicas.size()),
          .previous_may_live = may_live,
          .begins_job = message.epoch == 1 && !message.restore};
}

std::function<Result<Beginning>()> Worker::beginning_of(const Deploy& message,
                                                        ReplicaId replica) const {
  Beginning beginning;
  beginning.context = context_of(replica, message);
  if (settings_.back_bytes_max != 0) beginning.back_bytes_max = settings_.back_bytes_max;
  for (const Skip& skip : message.skips) {
    if (skip.node == plan_.replicas[replica].node) beginning.skips.insert(skip.item);
  }
  for (ReplicaId other = 0; other < message.placement.size(); ++other) {
    const Slot slot = message.placement[other];
    if (slot == settings_.slot) beginning.neighbours.insert(other);
    const auto limit = settings_.on_the_way.find(slot);
    if (limit != settings_.on_the_way.end()) beginning.on_the_way[other] = limit->second;
    const auto batch = settings_.batches.find(slot);
    if (batch != settings_.batches.end()) beginning.batches[other] = batch->second;
  }
  return [this, beginning, restore = message.restore, replica,
          store = settings_.store]() -> Result<Beginning> {
    Beginning ready = beginning;
    if (!restore) return ready;
    if (store == nullptr) return Error{Errc::config, "there is no snapshot directory to read"};
    auto read = ready.restore(*store, *restore, graph_.shape, plan_.replicas[replica]);
    if (!read) return read.error();
    return ready;
  };
}

Heartbeat Worker::heartbeat() const {
  Heartbeat beat;
  beat.epoch = epoch_.load();
  beat.cpu_ns = process_cpu_ns();
  for (ReplicaId id = 0; id < replicas_.size(); ++id) {
    if (!replicas_[id]) continue;
    const Counters& counters = replicas_[id]->counters();
    beat.progress.push_back({.replica = id,
                             .items_in = counters.items_in.load(relaxed),
                             .items_out = counters.items_out.load(relaxed),
                             .bytes_in = counters.bytes_in.load(relaxed),
                             .bytes_out = counters.bytes_out.load(relaxed),
                             .busy_ns = counters.busy_ns.load(relaxed),
                             .blocked_ns = counters.blocked_by(now()),
                             .queued = counters.queued.load(relaxed),
                             .read_ppm = counters.read_ppm.load(relaxed),
                             .calls = counters.calls.load(relaxed),
                             .item = replicas_[id]->item()});
  }
  return beat;
}

std::optional<Restoring> Worker::restoring() {
  Restoring state{.epoch = epoch_.load()};
  {
    std::lock_guard lock(mutex_);
    if (state.epoch == 0 || said_ready_ == state.epoch) return std::nullopt;
    state.progress -= to_begin_ + to_connect_.size();  // They count down, bytes up.
  }
  for (const auto& replica : replicas_) {
    if (!replica) continue;
    state.busy += replica->is_busy_before(state.epoch) ? 1 : 0;
    state.progress += replica->restored();
  }
  return state;
}

// ---- readiness ------------------------------------------------------------------------------

void Worker::begun(Epoch epoch, ReplicaId) {
  {
    std::lock_guard lock(mutex_);
    if (epoch != epoch_.load()) return;
    to_begin_ -= 1;
  }
  check_ready();
}

void Worker::on_connected(Slot peer, std::uint32_t incarnation) {
  {
    std::lock_guard lock(mutex_);
    std::erase_if(to_connect_,
                  [&](const Peer& p) { return p.slot == peer && p.incarnation == incarnation; });
  }
  check_connected();
}

// Nothing is sent before all who it could be for can be reached.
void Worker::check_connected() {
  {
    std::lock_guard lock(mutex_);
    if (!to_connect_.empty() || replicas_.empty()) return;
  }
  const Epoch epoch = epoch_.load();
  for (const auto& replica : replicas_) {
    if (replica) replica->start(epoch);
  }
  check_ready();
}

void Worker::check_ready() {
  std::lock_guard lock(mutex_);
  if (to_begin_ != 0 || !to_connect_.empty() || said_ready_ == epoch_.load()) return;
  said_ready_ = epoch_.load();
  say_(Ready{said_ready_});
}

}  // namespace piracema::runtime
