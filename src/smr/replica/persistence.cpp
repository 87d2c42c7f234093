#include "smr/replica/persistence.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/log.h"
#include "smr/link/keys.h"

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
Result<bool> leave_word(store::Disk& disk, const std::string& word) {
  const auto there = disk.list();
  if (!there) return there.error();
  const bool was_here = std::find(there->begin(), there->end(), word) != there->end();
  const std::array<Bytes, 1> nothing{Bytes{}};
  if (auto written = disk.replace(word, nothing); !written) return written.error();
  return was_here;
}

/// Where the file is that says whether the replica was there before; nobody locks it but by the
/// replica's own directory.
struct BeganFile {
  explicit BeganFile(const std::filesystem::path& path)
      : beside(path.has_parent_path() ? path.parent_path() : ".", Fd()), name(path.filename()) {}
  store::DirectoryDisk beside;
  std::string name;
};

Result<Storage::Opened> open_storage(store::Disk& disk, const Persistence::Settings& settings,
                                     std::uint64_t nonce) {
  const StorageSettings wanted{.me = settings.me,
                               .group = settings.group,
                               .nonce = nonce,
                               .first_start = settings.first_start};
  if (settings.began_file.empty()) return Storage::open(disk, wanted);
  BeganFile began(settings.began_file);
  return Storage::open_marked(began.beside, began.name, disk, wanted);
}

}  // namespace

Persistence::Persistence(net::Poller& poller, Host host, std::unique_ptr<store::DirectoryDisk> disk)
    : poller_(poller), host_(std::move(host)), disk_(std::move(disk)) {}

Persistence::~Persistence() = default;

Result<Persistence::Opened> Persistence::open(net::Poller& poller, const Settings& settings,
                                              Host host) {
  auto disk = store::DirectoryDisk::open(settings.directory, "replica");
  if (!disk) return disk.error();
  Opened opened;
  opened.persistence.reset(new Persistence(poller, std::move(host), *std::move(disk)));
  Persistence& self = *opened.persistence;
  const std::uint64_t nonce = random_number();
  if (!settings.durable) {
    auto recovered = self.open_in_memory(settings, nonce);
    if (!recovered) return recovered.error();
    opened.recovered = *std::move(recovered);
    return opened;
  }
  auto found = open_storage(*self.disk_, settings, nonce);
  if (!found) return found.error();
  for (const std::string& note : found->notes) log(Level::warning, note);
  self.storage_ = std::move(found->storage);
  self.next_record_ = self.storage_->first_sequence();
  self.life_ = self.storage_->life();
  self.lost_memory_ = self.storage_->lost_memory();
  self.start_log();
  opened.recovered = std::move(found->recovered);
  opened.image = std::move(found->image);
  return opened;
}

Result<Recovered> Persistence::open_in_memory(const Settings& settings, std::uint64_t nonce) {
  std::optional<BeganFile> began;
  if (!settings.began_file.empty()) began.emplace(settings.began_file);
  const auto was_here =
      began ? leave_word(began->beside, began->name) : leave_word(*disk_, "was-here");
  if (!was_here) return was_here.error();
  Recovered recovered;
  recovered.amnesia = *was_here || !(began || settings.first_start);
  recovered.nonce = nonce;
  life_ = nonce;
  lost_memory_ = recovered.amnesia;
  return recovered;
}

void Persistence::start_log() {
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
      host_.durable();
    });
  };
  host.failed = [this](Error why) {
    poller_.post([this, why = std::move(why)] { host_.failed(why); });
  };
  disk_thread_ = std::make_unique<WorkQueue>(WorkQueue::AtEnd::drop);
  log_ = std::make_unique<LogWriter>(std::move(host));
}

template <class Work, class Then>
void Persistence::on_disk(Work work, Then then) {
  disk_thread_->post([this, work = std::move(work), then = std::move(then)] {
    poller_.post([result = work(), then] { then(result); });
  });
}

void Persistence::fail_unless(const Result<Done>& done) const {
  if (!done) host_.failed(done.error());
}

Result<Buffer> Persistence::read_lives() const {
  return store::read_whole(*disk_, lives_name, lives_bytes_max);
}

void Persistence::write_lives(Buffer lives) {
  const auto write = [this, bytes = std::move(lives)] {
    const std::array<Bytes, 1> pieces{bytes};
    return disk_->replace(lives_name, pieces);
  };
  if (!log_) return fail_unless(write());
  on_disk(write, [this](const Result<Done>& done) { fail_unless(done); });
}

void Persistence::append(const LogRecord& record) {
  if (!log_) return;
  storage_->index().note(next_record_++, record);
  log_->append(record);
}

void Persistence::kick() {
  if (log_) log_->kick();
}

void Persistence::keep(const Checkpoint& checkpoint, std::function<void()> kept) {
  if (!log_) {
    shelf_.put(checkpoint);
    return kept();
  }
  on_disk([this, checkpoint] { return storage_->checkpoints().keep(checkpoint); },
          [this, kept = std::move(kept)](const Result<Done>& done) {
            fail_unless(done);
            if (done) kept();
          });
}

void Persistence::truncate(const Truncate& truncate) {
  const Instance instance = truncate.instance;
  if (!log_) return shelf_.forget_before(instance, truncate.kept);
  const LogIndex::Truncation truncation = storage_->index().truncate(instance);
  for (const LogRecord& record : truncation.again) append(record);
  // An older checkpoint may go when the log has the word that this one is stable.
  log_->post([this, instance, kept = truncate.kept, floor = truncation.floor] {
    storage_->truncate(floor);
    on_disk(
        [this, instance, kept] { return storage_->checkpoints().forget_before(instance, kept); },
        [this](const Result<Done>& done) { fail_unless(done); });
  });
}

void Persistence::find(Instance instance, std::uint32_t number,
                       std::function<void(Shelf::Chunk)> found) {
  if (!log_) {
    if (auto chunk = shelf_.find(instance, number)) found(std::move(chunk));
    return;
  }
  on_disk([this, instance, number] { return storage_->checkpoints().chunk(instance, number); },
          [found = std::move(found)](const Result<Shelf::Chunk>& chunk) {
            if (chunk && *chunk) found(*chunk);
          });
}

void Persistence::store(StoreChunk& store) {
  if (!log_) return shelf_.put(store.checkpoint, store.chunk, std::move(store.bytes));
  on_disk(
      [this, checkpoint = store.checkpoint, number = store.chunk, bytes = store.bytes] {
        return storage_->checkpoints().incoming().store(checkpoint, number, *bytes);
      },
      [this](const Result<Done>& done) { fail_unless(done); });
}

void Persistence::load(const CheckpointInfo& checkpoint,
                       std::function<void(const Result<Shelf::Chunk>&)> loaded) {
  if (log_) {
    return on_disk([this, checkpoint] { return storage_->checkpoints().complete(checkpoint); },
                   std::move(loaded));
  }
  const auto image = shelf_.image(checkpoint);
  loaded(image ? Result<Shelf::Chunk>(image) : Error{Errc::corrupt, "a piece of it is missing"});
}

}  // namespace piracema::smr
