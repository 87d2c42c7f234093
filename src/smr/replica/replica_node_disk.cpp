#include <algorithm>
#include <array>

#include "base/log.h"
#include "base/text.h"
#include "smr/replica/replica_node.h"

/// What a replica keeps: on its disk, or where that is not asked for in memory.
namespace piracema::smr {

namespace {

constexpr const char* lives_name = "lives";
constexpr std::uint64_t lives_bytes_max = std::uint64_t{1} << 20;

std::uint64_t random_number() {
  std::array<std::byte, 8> bytes;
  draw_secret(bytes.data(), bytes.size());
  std::uint64_t number = 0;
  for (const std::byte byte : bytes) number = number << 8 | static_cast<std::uint64_t>(byte);
  return number;
}

/// A replica that keeps nothing leaves at least word that it was here: the next time it has
/// forgotten something. True if one was here before.
Result<bool> leave_word(store::Disk& disk) {
  const auto there = disk.list();
  if (!there) return there.error();
  const bool was_here = std::find(there->begin(), there->end(), "was-here") != there->end();
  const std::array<Bytes, 1> nothing{Bytes{}};
  if (auto written = disk.replace("was-here", nothing); !written) return written.error();
  return was_here;
}

}  // namespace

template <class Work, class Then>
void ReplicaNode::on_disk(Work work, Then then) {
  disk_thread_->post([this, work = std::move(work), then = std::move(then)] {
    poller_.post([result = work(), then] { then(result); });
  });
}

Result<Recovered> ReplicaNode::open_storage(const View& view) {
  auto disk = store::DirectoryDisk::open(place_.directory, "replica");
  if (!disk) return disk.error();
  disk_ = *std::move(disk);
  read_lives();
  const std::uint64_t nonce = random_number();
  if (!configuration_.durable) {
    const auto was_here = leave_word(*disk_);
    if (!was_here) return was_here.error();
    Recovered recovered;
    recovered.view = view;
    recovered.amnesia = *was_here || !place_.first_start;
    recovered.nonce = nonce;
    life_ = nonce;
    lost_memory_ = recovered.amnesia;
    return recovered;
  }
  auto opened = Storage::open(
      *disk_,
      {.me = place_.id, .group = self_.group, .nonce = nonce, .first_start = place_.first_start});
  if (!opened) return opened.error();
  for (const std::string& note : opened->notes) log(Level::warning, note);
  storage_ = std::move(opened->storage);
  next_record_ = storage_->first_sequence();
  life_ = storage_->life();
  lost_memory_ = storage_->lost_memory();
  Recovered recovered = std::move(opened->recovered);
  recovered.view = view;
  if (recovered.checkpoint) {
    if (auto done = restore(recovered, std::move(opened->image)); !done) return done.error();
  }
  LogWriter::Host host;
  host.commit = [this](store::LogGroup& group, bool idle) -> Result<Done> {
    auto committed = storage_->commit(group, idle);
    if (!committed) return committed.error();
    return Done{};
  };
  host.settle = [this] { return storage_->settle(); };
  host.durable = [this](std::uint64_t durable) {
    poller_.post([this, durable] {
      durable_ = durable;
      release_held();
    });
  };
  host.failed = [this](Error why) { poller_.post([this, why = std::move(why)] { fail(why); }); };
  disk_thread_ = std::make_unique<WorkQueue>(WorkQueue::AtEnd::drop);
  log_ = std::make_unique<LogWriter>(std::move(host));
  return recovered;
}

// What the others were when they were last seen. Without it nobody is suspected of anything.
void ReplicaNode::read_lives() {
  const auto bytes = store::read_whole(*disk_, lives_name, lives_bytes_max);
  const auto restored = bytes ? lives_.restore(*bytes) : Result<Done>(bytes.error());
  if (restored || restored.error().code == Errc::not_found) return;
  log(Level::warning,
      concat("the file '", lives_name, "' cannot be used: ", restored.error().message));
}

void ReplicaNode::write_lives() {
  const auto write = [this, bytes = lives_.encode()] {
    const std::array<Bytes, 1> pieces{bytes};
    return disk_->replace(lives_name, pieces);
  };
  const auto then = [this](const Result<Done>& done) {
    if (!done) fail(done.error());
  };
  if (!log_) return then(write());
  on_disk(write, then);
}

// Before the core begins: it goes on behind the checkpoint.
Result<Done> ReplicaNode::restore(const Recovered& recovered, Buffer image) {
  std::optional<Result<Done>> outcome;
  execution_->restore(recovered.checkpoint->instance,
                      std::make_shared<const Buffer>(std::move(image)),
                      [&](const Result<Done>& done) { outcome = done; });
  while (!outcome) poller_.run_once(std::chrono::milliseconds(-1));
  return *std::move(outcome);
}

void ReplicaNode::act(Persist& persist) {
  if (const auto* known = std::get_if<ViewSigned>(&persist.record)) {
    clients_->tell_view(encode(*message(known->view)).head);
    if (known->view.view.id > newest_view_.id) {
      newest_view_ = known->view.view;
      meet_members();
    }
  }
  if (!log_) return;
  storage_->index().note(next_record_++, persist.record);
  log_->append(persist.record);
}

void ReplicaNode::act(TakeCheckpoint& due) {
  count_.checkpoint_begun(now());
  const auto taken = [this](const Checkpoint& checkpoint) {
    if (!log_) {
      shelf_.put(checkpoint);
      count_.checkpoint_taken(now(), checkpoint.info.bytes);
      inbox_.push_back(CheckpointTaken{checkpoint.info, checkpoint.digests});
      return;
    }
    on_disk([this, checkpoint] { return storage_->checkpoints().keep(checkpoint); },
            [this, checkpoint](const Result<Done>& kept) {
              if (!kept) return fail(kept.error());
              count_.checkpoint_taken(now(), checkpoint.info.bytes);
              inbox_.push_back(CheckpointTaken{checkpoint.info, checkpoint.digests});
            });
  };
  execution_->take_checkpoint(
      due, log_ ? Pieces::made_again : Pieces::kept, taken,
      [this, instance = due.instance] { inbox_.push_back(CheckpointSkipped{instance}); });
}

void ReplicaNode::act(Truncate& truncate) {
  const Instance instance = truncate.instance;
  execution_->stable(instance);
  if (!log_) return shelf_.forget_before(instance, truncate.kept);
  const LogIndex::Truncation truncation = storage_->index().truncate(instance);
  for (const LogRecord& record : truncation.again) {
    storage_->index().note(next_record_++, record);
    log_->append(record);
  }
  // An older checkpoint may go when the log has the word that this one is stable.
  log_->post([this, instance, kept = truncate.kept, floor = truncation.floor] {
    storage_->truncate(floor);
    on_disk(
        [this, instance, kept] { return storage_->checkpoints().forget_before(instance, kept); },
        [this](const Result<Done>& done) {
          if (!done) fail(done.error());
        });
  });
}

void ReplicaNode::act(SendChunk& send) {
  const auto pass_on = [this, to = send.to, instance = send.instance,
                        number = send.chunk](const Shelf::Chunk& chunk) {
    if (chunk) send_now(to, message(Chunk{instance, number, chunk}));
  };
  if (!log_) return pass_on(shelf_.find(send.instance, send.chunk));
  on_disk([this, instance = send.instance,
           number = send.chunk] { return storage_->checkpoints().chunk(instance, number); },
          [pass_on](const Result<Shelf::Chunk>& chunk) {
            if (chunk) pass_on(*chunk);
          });
}

void ReplicaNode::act(StoreChunk& store) {
  if (!log_) return shelf_.put(store.checkpoint, store.chunk, std::move(store.bytes));
  on_disk(
      [this, checkpoint = store.checkpoint, number = store.chunk, bytes = store.bytes] {
        return storage_->checkpoints().store(checkpoint, number, *bytes);
      },
      [this](const Result<Done>& done) {
        if (!done) fail(done.error());
      });
}

void ReplicaNode::act(LoadCheckpoint& load) {
  const Instance instance = load.checkpoint.instance;
  const auto use = [this, instance](const Result<Shelf::Chunk>& image) {
    const auto loaded = [this, instance](const Result<Done>& done) {
      inbox_.push_back(CheckpointLoaded{instance, done ? "" : done.error().message});
    };
    if (!image) return loaded(image.error());
    execution_->restore(instance, *image, loaded);
  };
  if (log_) {
    return on_disk(
        [this, checkpoint = load.checkpoint] {
          return storage_->checkpoints().complete(checkpoint);
        },
        use);
  }
  const auto image = shelf_.image(load.checkpoint);
  use(image ? Result<Shelf::Chunk>(image) : Error{Errc::corrupt, "a piece of it is missing"});
}

}  // namespace piracema::smr
