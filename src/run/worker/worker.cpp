#include "run/worker/worker.h"

#include <time.h>

#include <algorithm>
#include <utility>

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
      start_([this](Epoch epoch) { say_(Ready{epoch}); }),
      router_(settings_.slot, layouts_, start_),
      dead_letters_(settings_.dead_letters),
      ahead_(settings_.place == nullptr ? settings_.store : nullptr) {
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
    const Layout* const layout = layouts_.of(epoch);
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
    if (trees->epoch == start_.epoch()) router_.follow(*trees);
  } else if (const auto* ahead = std::get_if<ReadAhead>(&message)) {
    read_ahead(*ahead);
  }
}

void Worker::read_ahead(const ReadAhead& message) {
  if (message.snapshot == 0) return ahead_.forget();
  const Layout next(message, graph_, settings_.slot);
  ahead_.read(message.snapshot, StatesToCome(next, layouts_.newest()),
              [this, epoch = message.epoch, snapshot = message.snapshot] {
                say_(HasReadAhead{epoch, snapshot});
              });
}

// Also the way back (paper 000, section 4.1): the same replicas, in the same threads, with the same
// connections, begin again from the snapshot. By another plan some are others, and some rest.
void Worker::deploy(const Deploy& message) {
  const Layout* const before = layouts_.newest();
  const bool stays = before != nullptr && before->fits(message);
  const Layout& layout = stays ? *before : make_layout(message);
  ahead_.stop();
  router_.begin(layout, message.epoch);
  std::vector<Peer> others;
  for (const Peer& peer : message.peers) {
    if (peer.slot != settings_.slot) others.push_back(peer);
  }
  start_.begin(message.epoch, layout.local_count, others);
  router_.connect(others);
  for (ReplicaId id = 0; id < layout.replicas.size(); ++id) {
    if (layout.replicas[id] == nullptr) continue;
    auto who = std::make_shared<ReplicaIdentity>(
        ReplicaIdentity{id, layout.plan.replicas[id], layout.graph,
                        settings_.at_work ? &settings_.at_work(id) : nullptr});
    layout.replicas[id]->begin(message.epoch, std::move(who), init_of(layout, message, id));
  }
  start_if_connected();
  for (auto& [from, frame] : start_.take_early()) router_.on_frame(from, std::move(frame));
}

const Layout& Worker::make_layout(const Deploy& message) {
  auto next = std::make_unique<Layout>(message, graph_, settings_.slot);
  if (!threads_) make_threads(next->local_count);
  next->add_actors([this](const flow::ReplicaPlan& replica) { return actor_of(replica); });
  const auto& here = next->replicas;
  for (const auto& [which, actor] : actors_) {
    if (std::find(here.begin(), here.end(), actor.get()) == here.end()) {
      actor->retire(message.epoch);
    }
  }
  layouts_.add(std::move(next));
  return *layouts_.newest();
}

ReplicaActor* Worker::actor_of(const flow::ReplicaPlan& replica) {
  auto& actor = actors_[{replica.node, replica.index}];
  if (!actor) actor = std::make_unique<ReplicaActor>(*this, *threads_);
  return actor.get();
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
          .begins_job = message.epoch == 1 && !message.restore,
          .started_before = message.started_before};
}

ReplicaActor::ReadState Worker::init_of(const Layout& layout, const Deploy& message,
                                        ReplicaId replica) {
  ReplicaInit init;
  init.context = context_of(layout, replica, message);
  if (settings_.back_bytes_max != 0) init.back_bytes_max = settings_.back_bytes_max;
  init.place = settings_.place;
  init.dispose = [this](auto states) { ahead_.dispose(std::move(states)); };
  for (const Skip& skip : message.skips) {
    if (skip.node == layout.plan.replicas[replica].node) init.skips.insert(skip.item);
  }
  for (ReplicaId other = 0; other < message.placement.size(); ++other) {
    const Slot slot = message.placement[other];
    if (slot == settings_.slot) init.neighbours.insert(other);
    const auto limit = settings_.on_the_way.find(slot);
    if (limit != settings_.on_the_way.end()) init.on_the_way[other] = limit->second;
    const auto batch = settings_.batches.find(slot);
    if (batch != settings_.batches.end()) init.batches[other] = batch->second;
  }
  return [this, &layout, init, restore = message.restore, epoch = message.epoch,
          replica](std::shared_ptr<state::KeptStates> kept) -> Result<ReplicaInit> {
    ReplicaInit ready = init;
    if (!restore) return ready;
    store::SnapshotStore* const store = settings_.store;
    if (store == nullptr) return Error{Errc::config, "there is no snapshot directory to read"};
    const flow::ReplicaPlan& plan = layout.plan.replicas[replica];
    auto ahead = ahead_.take(plan, *restore);
    auto read = ready.restore(*store, *restore, layout.graph->shape, plan,
                              {std::move(kept), std::move(ahead)});
    if (!read) return read.error();
    // An operator that is new in this version of the program has no job before this one.
    if (!ready.state) ready.context.begins_job = epoch == 1;
    return ready;
  };
}

Heartbeat Worker::heartbeat() const {
  Heartbeat beat;
  beat.epoch = start_.epoch();
  beat.cpu_ns = process_cpu_ns();
  const Layout* const layout = layouts_.newest();
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
                             .item = replica->item(),
                             .event_time = counters.event_time_come(),
                             .items_late = counters.items_late.load(std::memory_order_relaxed)});
  }
  return beat;
}

std::optional<Restoring> Worker::restoring() {
  const auto left = start_.left();
  if (!left) return std::nullopt;
  Restoring state{.epoch = start_.epoch()};
  state.progress -= *left;  // That counts down, bytes up.
  for (const auto& [which, replica] : actors_) {
    state.busy += replica->is_busy_before(state.epoch) ? 1 : 0;
    state.progress += replica->restored();
  }
  return state;
}

void Worker::on_connected(Slot peer, std::uint32_t incarnation) {
  start_.connected(peer, incarnation);
  start_if_connected();
}

// Nothing is sent before all who it could be for can be reached.
void Worker::start_if_connected() {
  if (!start_.all_connected()) return;
  const Epoch epoch = start_.epoch();
  for (ReplicaActor* const replica : layouts_.newest()->replicas) {
    if (replica != nullptr) replica->start(epoch);
  }
  start_.check_ready();
}

// ---- what replicas tell ---------------------------------------------------------------------

void Worker::save(Epoch epoch, ReplicaId replica, SnapshotId snapshot, std::uint64_t items_out,
                  store::PartContent part) {
  const Layout* const layout = layouts_.of(epoch);
  if (layout == nullptr) return;
  if (writer_) {
    const bool from_source = is_source(layout->node(replica).role);
    writer_->write(SnapshotWriter::Job{epoch, snapshot, replica, std::move(part),
                                       from_source ? items_out : 0});
  } else {
    say_(SaveFailed{epoch, snapshot, replica, "there is no snapshot directory"});
  }
}

void Worker::save_piece(Epoch epoch, ReplicaId replica, SnapshotId snapshot, Buffer piece,
                        std::function<void()> done) {
  if (!writer_) return done();  // As `save` will say.
  writer_->write(
      SnapshotWriter::Piece{{epoch, snapshot, replica}, std::move(piece), std::move(done)});
}

// The last heartbeat may be old, and a job may be shorter than the time between two.
void Worker::ended(Epoch epoch, ReplicaId replica) {
  say_(heartbeat());
  say_(Ended{epoch, replica});
}

void Worker::skipped(Epoch epoch, ReplicaId replica, std::uint64_t item, Bytes bytes) {
  const Layout* const layout = layouts_.of(epoch);
  if (layout == nullptr) return;
  const flow::ReplicaPlan& plan = layout->plan.replicas[replica];
  dead_letters_.add(layout->node(replica).name, plan.index, item, bytes);
}

}  // namespace piracema::runtime
