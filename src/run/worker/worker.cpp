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
      relay_(settings_.slot),
      dead_letters_(settings_.dead_letters) {
  if (settings_.store != nullptr) {
    writer_ = std::make_unique<SnapshotWriter>(
        *settings_.store, [this](const SnapshotWriter::Job& job, Result<store::Part> part) {
          if (part) {
            Saved saved{job.epoch,      job.snapshot, job.replica,  part->bytes,
                        part->checksum, job.emitted,  part->indexed};
            for (const store::PartFile& file : part->files) {
              saved.files.push_back({file.snapshot, file.replica});
            }
            saved.under_way = job.part.under_way;
            say_(std::move(saved));
          } else {
            say_(SaveFailed{job.epoch, job.snapshot, job.replica, part.error().message});
          }
        });
  }
}

Worker::~Worker() {
  for (const auto& [which, actor] : actors_) actor->quit();
  for (const auto& [which, actor] : actors_) actor->join();
  writer_.reset();  // It wakes replicas whose pieces it has written.
}

// ---- what the coordinator says --------------------------------------------------------------

void Worker::handle(const ToWorker& message) {
  const auto each = [this](Epoch epoch, const std::vector<ReplicaId>& ids, auto call) {
    const Layout* const layout = layout_of(epoch);
    if (layout == nullptr) return;
    for (const ReplicaId id : ids) {
      if (ReplicaActor* replica = layout->local(id)) call(*replica);
    }
  };
  if (const auto* from = std::get_if<Deploy>(&message)) {
    deploy(*from);
  } else if (const auto* wanted = std::get_if<Trigger>(&message)) {
    each(wanted->epoch, wanted->replicas, [&](ReplicaActor& replica) {
      replica.trigger(wanted->epoch, wanted->snapshot, wanted->complete, wanted->hold,
                      wanted->patience);
    });
  } else if (const auto* taken = std::get_if<Commit>(&message)) {
    each(taken->epoch, taken->replicas,
         [&](ReplicaActor& replica) { replica.commit(taken->epoch, taken->snapshot); });
  } else if (const auto* trees = std::get_if<BroadcastTrees>(&message)) {
    if (trees->epoch != epoch_.load()) return;
    leave(relay_.follow(*trees));
    link_watch_.begin(trees->epoch, std::chrono::milliseconds(trees->watch_every_ms));
  }
}

// Also the way back (paper 000, section 4.1): the same replicas, in the same threads, with the
// same connections, begin again from the snapshot. By another plan some are others, and some rest.
void Worker::deploy(const Deploy& message) {
  const Layout* layout = layout_.load();
  const bool changes = layout == nullptr || !fits(*layout, message);
  if (changes) {
    auto next = make_layout(message);
    for (const auto& [which, actor] : actors_) {
      const auto& here = next->replicas;
      if (std::find(here.begin(), here.end(), actor.get()) == here.end()) {
        actor->retire(message.epoch);
      }
    }
    layout = next.get();
    layouts_.push_back(std::move(next));
    layout_.store(layout);
  }
  relay_.begin(message.epoch, layout->graph->shape, layout->placement);
  link_watch_.begin(message.epoch, Time{});
  {
    std::lock_guard lock(mutex_);
    epoch_.store(message.epoch);
    to_begin_ = layout->local_count;
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
  for (ReplicaId id = 0; id < layout->replicas.size(); ++id) {
    if (layout->replicas[id] == nullptr) continue;
    auto who = std::make_shared<ReplicaIdentity>(
        ReplicaIdentity{id, layout->plan.replicas[id], layout->graph,
                        settings_.at_work ? &settings_.at_work(id) : nullptr});
    layout->replicas[id]->begin(message.epoch, std::move(who), beginning_of(*layout, message, id));
  }
  check_connected();
  std::vector<std::pair<Slot, wire::Frame>> early;
  {
    std::lock_guard lock(mutex_);
    early.swap(early_);
  }
  for (auto& [from, frame] : early) on_frame(from, std::move(frame));
}

bool Worker::fits(const Layout& layout, const Deploy& message) const {
  const auto& nodes = layout.graph->shape.nodes;
  for (std::size_t node = 0; node < message.replicas.size(); ++node) {
    if (nodes[node].replicas != message.replicas[node]) return false;
  }
  return layout.placement == message.placement;
}

std::unique_ptr<Worker::Layout> Worker::make_layout(const Deploy& message) {
  auto layout = std::make_unique<Layout>();
  layout->since = message.epoch;
  layout->graph = graph_with(message.replicas);
  layout->placement = message.placement;
  layout->plan = flow::make_plan(layout->graph->shape, [&](ReplicaId id) {
    return id < message.placement.size() && message.placement[id] == settings_.slot;
  });
  ENSURE(message.placement.size() == layout->plan.replicas.size());
  layout->replicas.resize(layout->plan.replicas.size());
  layout->of_node.resize(layout->graph->shape.nodes.size());
  layout->local_count = static_cast<std::size_t>(
      std::count(message.placement.begin(), message.placement.end(), settings_.slot));
  if (!threads_) make_threads(layout->local_count);
  for (ReplicaId id = 0; id < layout->replicas.size(); ++id) {
    if (layout->placement[id] != settings_.slot) continue;
    layout->replicas[id] = actor_of(layout->plan.replicas[id]);
    layout->of_node[layout->plan.replicas[id].node].push_back(id);
  }
  return layout;
}

// The program's own, as long as the numbers are: its code may hold much.
std::shared_ptr<const Graph> Worker::graph_with(const std::vector<std::uint32_t>& replicas) const {
  const auto& nodes = graph_.shape.nodes;
  const bool own = replicas.empty() ||
                   std::equal(nodes.begin(), nodes.end(), replicas.begin(), replicas.end(),
                              [](const auto& node, auto count) { return node.replicas == count; });
  if (own) return {std::shared_ptr<const Graph>(), &graph_};
  ENSURE(replicas.size() == nodes.size());
  Graph graph = graph_;
  for (std::size_t node = 0; node < replicas.size(); ++node) {
    graph.shape.nodes[node].replicas = replicas[node];
  }
  return std::make_shared<const Graph>(std::move(graph));
}

ReplicaActor* Worker::actor_of(const flow::ReplicaPlan& replica) {
  auto& actor = actors_[{replica.node, replica.index}];
  if (!actor) actor = std::make_unique<ReplicaActor>(*this, *threads_);
  return actor.get();
}

const Worker::Layout* Worker::layout_of(Epoch epoch) const {
  const Layout* const layout = layout_.load();
  return layout == nullptr || epoch < layout->since ? nullptr : layout;
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

Context Worker::context_of(const Layout& layout, ReplicaId replica, const Deploy& message) const {
  const flow::ReplicaPlan& plan = layout.plan.replicas[replica];
  const NodeShape& node = layout.node(replica);
  const bool may_live = std::find(message.may_live.begin(), message.may_live.end(),
                                  settings_.slot) != message.may_live.end();
  return {.node = node.name,
          .replica = plan.index,
          .replicas = node.replicas,
          .rank = replica,
          .ranks = static_cast<std::uint32_t>(layout.plan.replicas.size()),
          .previous_may_live = may_live,
          .begins_job = message.epoch == 1 && !message.restore};
}

ReplicaActor::ReadState Worker::beginning_of(const Layout& layout, const Deploy& message,
                                             ReplicaId replica) const {
  ReplicaInit beginning;
  beginning.context = context_of(layout, replica, message);
  if (settings_.back_bytes_max != 0) beginning.back_bytes_max = settings_.back_bytes_max;
  beginning.place = settings_.place;
  for (const Skip& skip : message.skips) {
    if (skip.node == layout.plan.replicas[replica].node) beginning.skips.insert(skip.item);
  }
  for (ReplicaId other = 0; other < message.placement.size(); ++other) {
    const Slot slot = message.placement[other];
    if (slot == settings_.slot) beginning.neighbours.insert(other);
    const auto limit = settings_.on_the_way.find(slot);
    if (limit != settings_.on_the_way.end()) beginning.on_the_way[other] = limit->second;
    const auto batch = settings_.batches.find(slot);
    if (batch != settings_.batches.end()) beginning.batches[other] = batch->second;
  }
  return [&layout, beginning, restore = message.restore, epoch = message.epoch, replica,
          store = settings_.store](std::shared_ptr<state::KeptStates> kept) -> Result<ReplicaInit> {
    ReplicaInit ready = beginning;
    if (!restore) return ready;
    if (store == nullptr) return Error{Errc::config, "there is no snapshot directory to read"};
    auto read = ready.restore(*store, *restore, layout.graph->shape, layout.plan.replicas[replica],
                              std::move(kept));
    if (!read) return read.error();
    // An operator that is new in this version of the program has no job before this one.
    if (!ready.state) ready.context.begins_job = epoch == 1;
    return ready;
  };
}

Heartbeat Worker::heartbeat() const {
  Heartbeat beat;
  beat.epoch = epoch_.load();
  beat.cpu_ns = process_cpu_ns();
  const Layout* const layout = layout_.load();
  if (layout == nullptr) return beat;
  beat.epoch = std::max(beat.epoch, layout->since);  // The numbers of replicas are of that one.
  for (ReplicaId id = 0; id < layout->replicas.size(); ++id) {
    const ReplicaActor* const replica = layout->replicas[id];
    if (replica == nullptr) continue;
    const Counters& counters = replica->counters();
    beat.progress.push_back({.replica = id,
                             .items_in = counters.items_in.load(std::memory_order_relaxed),
                             .items_out = counters.items_out.load(std::memory_order_relaxed),
                             .bytes_in = counters.bytes_in.load(std::memory_order_relaxed),
                             .bytes_out = counters.bytes_out.load(std::memory_order_relaxed),
                             .busy_ns = counters.busy_ns.load(std::memory_order_relaxed),
                             .blocked_ns = counters.blocked_by(now()),
                             .queued = counters.queued.load(std::memory_order_relaxed),
                             .read_ppm = counters.read_ppm.load(std::memory_order_relaxed),
                             .calls = counters.calls.load(std::memory_order_relaxed),
                             .item = replica->item()});
  }
  return beat;
}

std::optional<LinksSeen> Worker::links() {
  if (transport_ == nullptr || !link_watch_.is_due(now())) return std::nullopt;
  return link_watch_.look(now(), transport_->links(), relay_.take_sent());
}

std::optional<Restoring> Worker::restoring() {
  Restoring state{.epoch = epoch_.load()};
  {
    std::lock_guard lock(mutex_);
    if (state.epoch == 0 || said_ready_ == state.epoch) return std::nullopt;
    state.progress -= to_begin_ + to_connect_.size();  // They count down, bytes up.
  }
  for (const auto& [which, replica] : actors_) {
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
    if (!to_connect_.empty() || epoch_.load() == 0) return;
  }
  const Epoch epoch = epoch_.load();
  for (ReplicaActor* const replica : layout_.load()->replicas) {
    if (replica != nullptr) replica->start(epoch);
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
