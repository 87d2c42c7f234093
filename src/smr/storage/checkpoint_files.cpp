#include "smr/storage/checkpoint_files.h"

#include "base/text.h"
#include "smr/order/messages/digest.h"
#include "smr/storage/checkpoint_format.h"
#include "wire/checksum.h"

namespace piracema::smr {

Result<Done> CheckpointFiles::keep(const Checkpoint& checkpoint) {
  const std::string name = name_of(kept_prefix, checkpoint.info.instance);
  const Buffer head = encode_head({checkpoint.info, checkpoint.digests});
  auto file = disk_.create(name, head.size() + checkpoint.info.bytes);
  if (!file) return file.error();
  if (auto written = (*file)->write(0, head); !written) return written;
  std::uint64_t at = head.size();
  std::size_t number = 0;
  Result<Done> done = Done{};
  checkpoint.each_piece([&](Bytes piece) {
    if (!done) return;
    const bool same =
        number < checkpoint.digests.size() &&
        (checkpoint.checksums.empty() || wire::checksum(piece) == checkpoint.checksums[number]);
    done = same ? (*file)->write(at, piece)
                : Error{Errc::failed, concat(name,
                                             ": the state machine does not write the same image "
                                             "twice: piece ",
                                             number, " differs")};
    at += piece.size();
    number += 1;
  });
  if (!done) return done;
  if (number != checkpoint.digests.size()) {
    return Error{
        Errc::failed,
        concat(name, ": the state machine does not write the same image twice: it ends early")};
  }
  if (auto synced = (*file)->sync(); !synced) return synced;
  return disk_.sync_names();
}

Result<CheckpointFiles::Chunk> CheckpointFiles::chunk(Instance instance, std::uint32_t number) {
  if (!open_file_ || open_ != instance) {
    const std::string name = name_of(kept_prefix, instance);
    auto file = disk_.open(name);
    if (!file) return file.error();
    auto head = read_head(**file, name);
    if (!head) return head.error();
    open_ = instance;
    open_file_ = *std::move(file);
    open_info_ = head->head.info;
    open_offset_ = head->end;
  }
  if (number >= open_info_.chunk_count) {
    return Error{Errc::not_found, concat("checkpoint ", instance, " has no piece ", number)};
  }
  auto bytes = std::make_shared<Buffer>();
  bytes->resize(static_cast<std::size_t>(bytes_of_chunk(open_info_, number)));
  const std::uint64_t at = open_offset_ + std::uint64_t{number} * open_info_.chunk_bytes;
  if (auto read = open_file_->read(at, {bytes->data(), bytes->size()}); !read) return read.error();
  return Chunk(std::move(bytes));
}

Result<CheckpointFiles::Chunk> CheckpointFiles::complete(const CheckpointInfo& checkpoint) {
  auto whole = incoming_.whole(checkpoint);
  if (!whole) return whole.error();
  if (auto kept = keep(whole->checkpoint); !kept) return kept.error();
  if (auto dropped = incoming_.drop(); !dropped) return dropped.error();
  return std::move(whole->bytes);
}

Result<CheckpointFiles::Image> CheckpointFiles::load(const CheckpointInfo& checkpoint) {
  const std::string name = name_of(kept_prefix, checkpoint.instance);
  auto file = disk_.open(name);
  if (!file) return file.error();
  auto head = read_head(**file, name);
  if (!head) return head.error();
  const auto differs = [&] {
    return Error{Errc::corrupt, concat(name, ": its bytes are not those of the checkpoint")};
  };
  const CheckpointInfo& info = head->head.info;
  if (info.bytes != checkpoint.bytes || info.chunk_bytes != checkpoint.chunk_bytes ||
      (*file)->bytes() != head->end + info.bytes ||
      digest_of_chunks(head->head.chunks) != checkpoint.state ||
      head->head.chunks.size() != info.chunk_count) {
    return differs();
  }
  Image image;
  image.bytes.resize(static_cast<std::size_t>(info.bytes));
  if (auto read = (*file)->read(head->end, {image.bytes.data(), image.bytes.size()}); !read) {
    return read.error();
  }
  for (std::uint32_t i = 0; i < info.chunk_count; ++i) {
    const Bytes piece =
        Bytes(image.bytes).subspan(std::size_t{i} * info.chunk_bytes, bytes_of_chunk(info, i));
    if (digest_of(piece) != head->head.chunks[i]) return differs();
  }
  image.chunks = std::move(head->head.chunks);
  return image;
}

Result<Done> CheckpointFiles::forget_before(Instance instance, Instance also) {
  auto names = disk_.list();
  if (!names) return names.error();
  for (const std::string& name : *names) {
    const auto kept = instance_in(name, kept_prefix);
    const auto coming = instance_in(name, incoming_prefix);
    if ((!kept || *kept >= instance || *kept == also) && (!coming || *coming >= instance)) continue;
    if (kept == open_) open_file_.reset();
    if (coming) incoming_.removed(*coming);
    if (auto removed = disk_.remove(name); !removed) return removed;
  }
  return Done{};
}

}  // namespace piracema::smr
