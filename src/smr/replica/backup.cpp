#include <piracema/smr/backup.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>

#include "base/text.h"
#include "smr/service/executor/make_executor.h"
#include "smr/service/service.h"
#include "smr/storage/storage.h"
#include "store/disk/directory_disk.h"
#include "store/disk/files.h"
#include "wire/checksum.h"
#include "wire/fields.h"

namespace piracema::smr {

namespace {

constexpr std::string_view backup_mark = "piracema backup 1\n";
constexpr std::uint64_t backup_bytes_max = std::uint64_t{64} << 30;

/// What the log says of an instance.
struct Known {
  std::map<Digest, BatchPtr> batches;
  std::optional<Digest> decided;
};

std::map<Instance, Known> known_in(const std::vector<LogRecord>& log, Instance& voted) {
  std::map<Instance, Known> known;
  for (const LogRecord& record : log) {
    if (const auto* taken = std::get_if<ProposalTaken>(&record)) {
      known[taken->instance].batches[taken->batch->digest] = taken->batch;
      voted = std::max(voted, taken->instance);
    } else if (const auto* decided = std::get_if<InstanceDecided>(&record)) {
      Known& one = known[decided->instance];
      one.decided = decided->digest;
      if (decided->batch) one.batches[decided->digest] = decided->batch;
    }
  }
  return known;
}

}  // namespace

Result<Backup> back_up(const Configuration& configuration, std::uint32_t replica,
                       const std::string& directory, StateMachine& machine) {
  // Opening it would make it.
  if (!std::filesystem::is_directory(directory)) {
    return Error{Errc::not_found,
                 concat(directory, ": want the directory of a replica, found none")};
  }
  auto disk = store::DirectoryDisk::open(directory, "replica");
  if (!disk) {
    if (disk.error().code != Errc::refused) return disk.error();
    return Error{Errc::refused, concat(disk.error().message, ": stop the replica first")};
  }
  auto found = Storage::look(**disk, {.me = replica, .group = configuration.name});
  if (!found) return Error{found.error().code, concat(directory, ": ", found.error().message)};
  const Recovered& recovered = found->recovered;

  Backup backup{.group = configuration.name, .replica = replica, .behind = recovered.amnesia};
  auto executor = make_executor(machine, 0, std::nullopt);
  if (!executor) return executor.error();
  std::vector<Admission> admitted;
  const auto note = [&admitted](const std::vector<Admission>& some) {
    admitted.insert(admitted.end(), some.begin(), some.end());
  };
  Service service(
      ServiceSettings{}, machine, **executor, [](std::vector<Reply>) {}, note);
  if (recovered.checkpoint) {
    auto restored = service.restore(recovered.checkpoint->instance, found->image);
    if (!restored) return restored.error();
    backup.instance = recovered.checkpoint->instance;
  }
  const auto known = known_in(recovered.log, backup.voted);
  Instance first = 0;
  for (const auto& [instance, one] : known) {
    if (one.decided && first == 0) first = instance;
  }
  if (first > backup.instance + 1) {
    return Error{Errc::corrupt, concat(directory, ": its log begins at ", first,
                                       " and builds on a checkpoint that "
                                       "cannot be read; take another replica's")};
  }
  for (auto one = known.find(backup.instance + 1); one != known.end() && one->second.decided;
       one = known.find(backup.instance + 1)) {
    const auto batch = one->second.batches.find(*one->second.decided);
    if (batch == one->second.batches.end()) break;
    const Execute execute{one->first, batch->second};
    service.execute({&execute, 1});
    backup.instance = one->first;
  }
  backup.voted = std::max(backup.voted, backup.instance);
  std::map<ClientId, std::string> keys;
  for (const Admission& one : admitted) keys[one.client] = one.public_key;
  for (const auto& [client, key] : keys) {
    backup.clients.push_back(client);
    backup.client_keys.push_back(key);
  }
  backup.state = bytes_of(machine.snapshot());
  return backup;
}

Result<Done> write_backup(const std::string& file, const Backup& backup) {
  Backup copy = backup;  // fields() is for reading and writing alike.
  Buffer fields;
  wire::FieldWriter(fields).put(copy);
  Buffer checksum;
  wire::Writer(checksum).number(wire::checksum(fields));
  const std::array<Bytes, 3> pieces{as_bytes(backup_mark), fields, checksum};
  if (auto written = store::replace_file(file, pieces); !written) return written;
  const auto parent = std::filesystem::path(file).parent_path();
  return store::sync_directory(parent.empty() ? "." : parent.string());
}

Result<Backup> read_backup(const std::string& file) {
  const auto bytes = store::read_file(file, backup_bytes_max);
  if (!bytes) return bytes.error();
  const auto wrong = [&](std::string_view what) {
    return Error{Errc::corrupt, concat(file, ": want a backup, found ", what)};
  };
  const std::size_t least = backup_mark.size() + sizeof(std::uint64_t);
  if (bytes->size() < least || as_text(*bytes).substr(0, backup_mark.size()) != backup_mark) {
    return wrong("something else");
  }
  const Bytes fields = Bytes(*bytes).subspan(backup_mark.size(), bytes->size() - least);
  wire::Reader checksum(Bytes(*bytes).subspan(backup_mark.size() + fields.size()));
  if (checksum.number<std::uint64_t>() != wire::checksum(fields)) {
    return wrong("one whose checksum is wrong");
  }
  auto backup = wire::decode<Backup>(fields);
  if (!backup) return wrong(backup.error().message);
  if (backup->clients.size() != backup->client_keys.size()) return wrong("clients without keys");
  return backup;
}

}  // namespace piracema::smr
