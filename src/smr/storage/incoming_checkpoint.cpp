#include "smr/storage/incoming_checkpoint.h"

#include <utility>

#include "base/text.h"
#include "smr/order/messages/digest.h"
#include "smr/order/messages/statements.h"
#include "smr/storage/checkpoint_format.h"

namespace piracema::smr {

Result<Done> IncomingCheckpoint::drop() {
  file_.reset();
  auto names = disk_.list();
  if (!names) return names.error();
  for (const std::string& name : *names) {
    if (!instance_in(name, incoming_prefix)) continue;
    if (auto removed = disk_.remove(name); !removed) return removed;
  }
  return disk_.sync_names();
}

// Goes on with the file of a former life if it is of the same checkpoint.
Result<Done> IncomingCheckpoint::open(const CheckpointInfo& checkpoint) {
  if (file_ && instance_ == checkpoint.instance) return Done{};
  const std::string name = name_of(incoming_prefix, checkpoint.instance);
  if (auto file = disk_.open(name)) {
    auto head = read_head(**file, name);
    if (head && digest_of(head->head.info) == digest_of(checkpoint)) {
      instance_ = checkpoint.instance;
      file_ = *std::move(file);
      return Done{};
    }
  }
  if (!makes_sense(checkpoint)) {
    return Error{Errc::corrupt, concat(name, ": its pieces do not fit its length")};
  }
  if (auto dropped = drop(); !dropped) return dropped;
  const Buffer head = encode_head({checkpoint, {}});
  const std::uint64_t slots = checkpoint.chunk_count * (slot_bytes(checkpoint));
  auto file = disk_.create(name, head.size() + slots);
  if (!file) return file.error();
  if (auto written = (*file)->write(0, head); !written) return written;
  if (auto synced = (*file)->sync(); !synced) return synced;
  if (auto synced = disk_.sync_names(); !synced) return synced;
  instance_ = checkpoint.instance;
  file_ = *std::move(file);
  return Done{};
}

void IncomingCheckpoint::removed(Instance instance) {
  if (instance_ == instance) file_.reset();
}

Result<Done> IncomingCheckpoint::store(const CheckpointInfo& checkpoint, std::uint32_t number,
                                       Bytes bytes) {
  if (auto ready = open(checkpoint); !ready) return ready;
  auto head = read_head(*file_, name_of(incoming_prefix, checkpoint.instance));
  if (!head) return head.error();
  if (number >= checkpoint.chunk_count || bytes.size() != bytes_of_chunk(checkpoint, number)) {
    return Error{Errc::corrupt, concat("piece ", number, " of the checkpoint at ",
                                       checkpoint.instance, " has ", bytes.size(), " bytes")};
  }
  return file_->write(slot_of(*head, number), encode_slot(bytes));
}

Result<IncomingCheckpoint::Whole> IncomingCheckpoint::whole(const CheckpointInfo& checkpoint) {
  if (auto ready = open(checkpoint); !ready) return ready.error();
  const std::string name = name_of(incoming_prefix, checkpoint.instance);
  auto head = read_head(*file_, name);
  if (!head) return head.error();
  Checkpoint whole{.info = checkpoint, .digests = {}, .chunks = {}};
  auto image = std::make_shared<Buffer>();
  for (std::uint32_t i = 0; i < checkpoint.chunk_count; ++i) {
    auto piece = read_slot(*file_, *head, i);
    if (!piece) return piece.error();
    if (!*piece) break;
    image->append((*piece)->data(), (*piece)->size());
    whole.digests.push_back(digest_of(Bytes(**piece)));
  }
  whole.make_again = [image, chunk_bytes = checkpoint.chunk_bytes](const Checkpoint::Use& use) {
    PieceCutter cutter(chunk_bytes, [&use](const Buffer& piece) { use(piece); });
    cutter.append(*image);
    cutter.finish();
  };
  if (whole.digests.size() != checkpoint.chunk_count ||
      digest_of_chunks(whole.digests) != checkpoint.state) {
    if (auto dropped = drop(); !dropped) return dropped.error();
    return Error{Errc::corrupt, concat(name, ": its pieces are not those of the checkpoint")};
  }
  return Whole{std::move(whole), std::move(image)};
}

Result<std::optional<PartialCheckpoint>> IncomingCheckpoint::partial() {
  auto names = disk_.list();
  if (!names) return names.error();
  for (auto name = names->rbegin(); name != names->rend(); ++name) {
    const auto instance = instance_in(*name, incoming_prefix);
    if (!instance) continue;
    auto file = disk_.open(*name);
    if (!file) return file.error();
    auto head = read_head(**file, *name);
    if (!head || head->head.info.instance != *instance) continue;  // Begun when it crashed.
    const CheckpointInfo& info = head->head.info;
    PartialCheckpoint partial{info, {}};
    for (std::uint32_t i = 0; i < info.chunk_count; ++i) {
      auto piece = read_slot(**file, *head, i);
      if (!piece) return piece.error();
      partial.chunks.push_back(*piece ? std::optional(digest_of(Bytes(**piece))) : std::nullopt);
    }
    return std::optional(std::move(partial));
  }
  return std::optional<PartialCheckpoint>{};
}

}  // namespace piracema::smr
