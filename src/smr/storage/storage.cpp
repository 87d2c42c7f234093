#include "smr/storage/storage.h"

#include <array>

#include "base/text.h"
#include "store/log/log_format.h"
#include "store/log/log_scan.h"
#include "wire/checksum.h"
#include "wire/fields.h"

namespace piracema::smr {

namespace {

using store::Disk;
using store::LogFile;
using store::LogSequence;

constexpr const char* identity_name = "replica";
constexpr std::uint64_t identity_bytes_max = 4'096;

/// Whose disk it is, and which life of its memory the log belongs to.
struct Identity {
  std::string mark = "piracema replica 1";
  std::string group;
  ReplicaId me = 0;
  std::uint64_t life = 0;
  /// This life did not begin with the group.
  bool lost_memory = false;
  auto fields() { return std::tie(mark, group, me, life, lost_memory); }
};

Result<Done> write_identity(Disk& disk, const Identity& identity) {
  Buffer bytes = wire::encode(identity);
  const std::uint64_t checksum = wire::checksum(bytes);
  wire::Writer(bytes).number(checksum);
  const std::array<Bytes, 1> pieces{bytes};
  return disk.replace(identity_name, pieces);
}

// nullopt if there is none, or none that can be read: then `wrong` says why.
Result<std::optional<Identity>> read_identity(Disk& disk, std::string& wrong) {
  auto bytes = store::read_whole(disk, identity_name, identity_bytes_max);
  if (!bytes) {
    if (bytes.error().code == Errc::io) return bytes.error();
    wrong = concat("the file '", identity_name, "' cannot be used: ", bytes.error().message);
    return std::optional<Identity>{};
  }
  if (bytes->size() < sizeof(std::uint64_t)) {
    wrong = concat("the file '", identity_name, "' is damaged: want 8 bytes or more, found ",
                   bytes->size());
    return std::optional<Identity>{};
  }
  const Bytes fields = Bytes(*bytes).first(bytes->size() - sizeof(std::uint64_t));
  wire::Reader checksum(Bytes(*bytes).subspan(fields.size()));
  if (checksum.number<std::uint64_t>() != wire::checksum(fields)) {
    wrong = concat("the file '", identity_name, "' is damaged: its checksum is not that of its ",
                   fields.size(), " bytes");
    return std::optional<Identity>{};
  }
  auto identity = wire::decode<Identity>(fields);
  if (identity && identity->mark == Identity{}.mark) return std::optional(*std::move(identity));
  return Error{Errc::refused, concat(identity_name,
                                     ": want the mark of a replica of this version, "
                                     "found another one")};
}

/// What a first start leaves that was cut: it says last whose disk it is.
bool is_cut_beginning(const std::vector<std::string>& names) {
  return names.size() == 1 && names[0] == store::segment_name(1);
}

Result<Done> check_owner(const Identity& known, const StorageSettings& settings) {
  if (known.group == settings.group && known.me == settings.me) return Done{};
  return Error{Errc::config,
               concat("want the directory of replica ", settings.me, " of group \"", settings.group,
                      "\", found that of replica ", known.me, " of group \"", known.group, "\"")};
}

}  // namespace

Result<Storage::Opened> Storage::open(Disk& disk, const StorageSettings& settings) {
  Opened opened;
  opened.storage = std::make_unique<Storage>(disk);
  if (auto done = opened.storage->open_log(settings, opened); !done) return done.error();
  opened.recovered.nonce = settings.nonce;
  if (auto found = opened.storage->find_checkpoint(opened); !found) return found.error();
  auto partial = opened.storage->checkpoints_.incoming().partial();
  if (!partial) return partial.error();
  opened.recovered.partial = *std::move(partial);
  return opened;
}

Result<Storage::Opened> Storage::open_marked(Disk& beside, const std::string& mark, Disk& disk,
                                             StorageSettings settings) {
  const auto found = beside.open(mark);
  if (!found && found.error().code != Errc::not_found) return found.error();
  settings.first_start = !found;
  auto opened = open(disk, settings);
  if (!opened || found) return opened;
  const std::array<Bytes, 1> nothing{};
  if (auto marked = beside.replace(mark, nothing); !marked) return marked.error();
  return opened;
}

Result<Storage::Opened> Storage::look(Disk& disk, const StorageSettings& settings) {
  std::string wrong;
  const auto known = read_identity(disk, wrong);
  if (!known) return known.error();
  if (!*known) return Error{wrong.empty() ? Errc::not_found : Errc::corrupt, wrong};
  if (auto mine = check_owner(**known, settings); !mine) return mine.error();
  Opened opened;
  opened.storage = std::make_unique<Storage>(disk);
  const auto scan = store::scan_log(disk, (*known)->life);
  if (!scan) return scan.error();
  if (scan->segments.empty()) return Error{Errc::corrupt, "the log is missing"};
  bool regained = false;
  for (const store::ScannedSegment& segment : scan->segments) {
    auto visited = store::visit_segment(
        disk, segment, scan->floor, [&](LogSequence, Bytes body) -> Result<Done> {
          auto record = decode_record(body);
          if (!record) return record.error();
          regained = regained || std::holds_alternative<MemoryRegained>(*record);
          opened.recovered.log.push_back(*std::move(record));
          return Done{};
        });
    if (!visited) return visited.error();
  }
  opened.recovered.amnesia = (*known)->lost_memory && !regained;
  if (auto found = opened.storage->find_checkpoint(opened); !found) return found.error();
  return opened;
}

Result<Done> Storage::open_log(const StorageSettings& settings, Opened& opened) {
  std::string wrong;
  auto known = read_identity(disk_, wrong);
  if (!known) return known.error();
  auto names = disk_.list();
  if (!names) return names.error();
  const bool empty = names->empty() || (settings.first_start && is_cut_beginning(*names));
  if (*known) {
    if (auto mine = check_owner(**known, settings); !mine) return mine;
  }
  if (*known) {
    life_ = (*known)->life;
    lost_memory_ = (*known)->lost_memory;
    auto replayed = replay(settings, opened);
    if (replayed && log_->next() == 1) {
      // Every life begins with a record (`begin_log`).
      replayed = Error{Errc::corrupt, concat("the log is missing: there is a file '", identity_name,
                                             "' and no record of what was promised")};
    }
    if (replayed) return replayed;
    // Damage, or the log of a life that is over: what this replica has promised is not known.
    if (replayed.error().code != Errc::corrupt && replayed.error().code != Errc::refused) {
      return replayed;
    }
    opened.notes.push_back(replayed.error().message);
  }
  if (!*known && !empty) opened.notes.push_back(wrong);
  const bool first = !*known && empty && settings.first_start;
  if (!first) {
    opened.notes.push_back(concat(empty    ? "the disk is empty"
                                  : *known ? "the log cannot be used"
                                           : "the disk cannot be used",
                                  ": this replica may have voted for what it does not know, and "
                                  "is silent until it has caught up"));
  }
  opened.recovered = Recovered{};
  life_ = settings.nonce;
  lost_memory_ = !first;
  index_ = LogIndex{};
  return begin_life(settings, opened);
}

// The new life is durable before anything of the old one goes: a crash in between finds a log of
// another life, and begins one more. Of the first life, where nothing goes, the log is there
// before: an identity without one is a loss.
Result<Done> Storage::begin_life(const StorageSettings& settings, Opened& opened) {
  const Identity identity{
      .group = settings.group, .me = settings.me, .life = life_, .lost_memory = lost_memory_};
  if (lost_memory_) {
    if (auto written = write_identity(disk_, identity); !written) return written;
  }
  if (auto erased = LogFile::erase(disk_); !erased) return erased;
  if (auto opened_log = replay(settings, opened); !opened_log) return opened_log;
  if (auto begun = begin_log(); !begun) return begun;
  return lost_memory_ ? Result<Done>(Done{}) : write_identity(disk_, identity);
}

// So that a log that is gone is told from one that was never begun. It says what is true of every
// replica that begins: it is in the first regency.
Result<Done> Storage::begin_log() {
  const LogRecord record = RegencyEntered{};
  store::LogGroup group;
  group.add(encode(record).head);
  index_.note(first_sequence_, record);
  auto committed = log_->commit(group);
  if (!committed) return committed.error();
  first_sequence_ = log_->next();
  return Done{};
}

Result<Done> Storage::replay(const StorageSettings& settings, Opened& opened) {
  bool regained = false;
  auto log = LogFile::open(disk_, {life_, settings.segment_bytes, settings.ahead_bytes},
                           [&](LogSequence sequence, Bytes body) -> Result<Done> {
                             auto record = decode_record(body);
                             if (!record) {
                               // Its checksum is right: no damage, so nothing that may be
                               // forgotten.
                               return Error{Errc::failed, concat("record ", sequence,
                                                                 " of the log is of no kind that "
                                                                 "this program knows: ",
                                                                 record.error().message)};
                             }
                             regained = regained || std::holds_alternative<MemoryRegained>(*record);
                             index_.note(sequence, *record);
                             opened.recovered.log.push_back(*std::move(record));
                             return Done{};
                           });
  if (!log) return log.error();
  log_ = *std::move(log);
  first_sequence_ = log_->next();
  opened.recovered.amnesia = lost_memory_ && !regained;
  if (!log_->condition().cut.empty()) opened.notes.push_back(log_->condition().cut);
  return Done{};
}

// The newest stable one whose bytes are right. Without one, the state comes from the others; the
// votes in the log count all the same. What another version has written is whole: nobody else may
// have it any more if all were brought to this version at once.
Result<Done> Storage::find_checkpoint(Opened& opened) {
  Recovered& recovered = opened.recovered;
  for (auto record = recovered.log.rbegin(); record != recovered.log.rend(); ++record) {
    const auto* stable = std::get_if<CheckpointStable>(&*record);
    if (stable == nullptr) continue;
    auto image = checkpoints_.load(stable->proof.checkpoint);
    if (!image && image.error().code == Errc::refused) return image.error();
    if (!image) {
      opened.notes.push_back(image.error().message);
      continue;
    }
    recovered.checkpoint = stable->proof.checkpoint;
    recovered.chunks = std::move(image->chunks);
    opened.image = std::move(image->bytes);
    break;
  }
  return Done{};
}

}  // namespace piracema::smr
