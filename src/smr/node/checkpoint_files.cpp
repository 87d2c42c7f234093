#include "smr/node/checkpoint_files.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "base/text.h"
#include "smr/order/digest.h"
#include "wire/checksum.h"
#include "wire/fields.h"

namespace piracema::smr {

namespace {

using store::DiskFile;

constexpr std::string_view kept_prefix = "checkpoint-";
constexpr std::string_view incoming_prefix = "incoming-";
constexpr std::uint32_t version = 1;
constexpr std::uint64_t mark = 0x0A54504B43524950u;  // "PIRCKPT\n"
constexpr std::size_t start_bytes = 32;
constexpr std::uint64_t slot_header_bytes = 16;
/// A head is small: a piece has 32 bytes in it.
constexpr std::uint64_t head_bytes_max = std::uint64_t{256} << 20;

/// What comes before the pieces.
struct Head {
  CheckpointInfo info;
  /// Empty in a file that is being received.
  std::vector<Digest> chunks;
  auto fields() { return std::tie(info, chunks); }
};

std::string name_of(std::string_view prefix, Instance instance) {
  char digits[20];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(instance));
  return concat(prefix, digits);
}

std::optional<Instance> instance_in(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  Instance instance = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + prefix.size(), end, instance, 16);
  if (error != std::errc() || stop != end || name_of(prefix, instance) != name) return std::nullopt;
  return instance;
}

bool makes_sense(const CheckpointInfo& info) {
  if (info.chunk_bytes == 0 || info.chunk_bytes > chunk_bytes_max) return info.chunk_count == 0;
  return info.chunk_count == info.bytes / info.chunk_bytes + (info.bytes % info.chunk_bytes != 0);
}

std::uint64_t bytes_of_chunk(const CheckpointInfo& info, std::uint32_t number) {
  const std::uint64_t from = std::uint64_t{number} * info.chunk_bytes;
  return std::min<std::uint64_t>(info.chunk_bytes, info.bytes - from);
}

// mark, version, length of the head, its checksum; the head.
Buffer encode_head(Head head) {
  const Buffer fields = wire::encode(std::move(head));
  Buffer out;
  wire::Writer writer(out);
  writer.number(mark);
  writer.number(version);
  writer.number(std::uint32_t{0});
  writer.number(static_cast<std::uint64_t>(fields.size()));
  writer.number(wire::checksum(fields));
  out.append(fields.data(), fields.size());
  return out;
}

struct ReadHead {
  Head head;
  std::uint64_t end = 0;
};

Result<ReadHead> read_head(DiskFile& file, const std::string& name) {
  const auto wrong = [&](std::string_view what) {
    return Error{Errc::corrupt, concat(name, ": ", what)};
  };
  if (file.bytes() < start_bytes) return wrong("want a checkpoint, found fewer bytes");
  Buffer start;
  start.resize(start_bytes);
  if (auto read = file.read(0, {start.data(), start.size()}); !read) return read.error();
  wire::Reader reader(start);
  if (reader.number<std::uint64_t>() != mark) return wrong("want a checkpoint, found other bytes");
  if (reader.number<std::uint32_t>() != version) return wrong("a checkpoint of another version");
  reader.number<std::uint32_t>();
  const auto length = reader.number<std::uint64_t>();
  const auto checksum = reader.number<std::uint64_t>();
  if (length > head_bytes_max || length > file.bytes() - start_bytes) {
    return wrong("the head of the checkpoint does not fit the file");
  }
  Buffer fields;
  fields.resize(static_cast<std::size_t>(length));
  if (auto read = file.read(start_bytes, {fields.data(), fields.size()}); !read) {
    return read.error();
  }
  if (wire::checksum(fields) != checksum) return wrong("the head of the checkpoint is damaged");
  auto head = wire::decode<Head>(fields);
  if (!head) return wrong(head.error().message);
  if (!makes_sense(head->info)) return wrong("the pieces of the checkpoint do not fit its length");
  return ReadHead{*std::move(head), start_bytes + length};
}

std::uint64_t slot_of(const ReadHead& head, std::uint32_t number) {
  return head.end + number * (slot_header_bytes + head.head.info.chunk_bytes);
}

// The piece in its slot; nullopt if it was never there, or is not what was written.
Result<std::optional<Buffer>> read_slot(DiskFile& file, const ReadHead& head,
                                        std::uint32_t number) {
  const std::uint64_t want = bytes_of_chunk(head.head.info, number);
  Buffer slot;
  slot.resize(static_cast<std::size_t>(slot_header_bytes + want));
  if (auto read = file.read(slot_of(head, number), {slot.data(), slot.size()}); !read) {
    return read.error();
  }
  wire::Reader reader(slot);
  const auto checksum = reader.number<std::uint64_t>();
  const auto length = reader.number<std::uint64_t>();
  const Bytes body = Bytes(slot).subspan(slot_header_bytes);
  if (length != want || checksum != wire::checksum(body)) return std::optional<Buffer>{};
  return std::optional<Buffer>(Buffer(body));
}

}  // namespace

Result<Done> CheckpointFiles::keep(const Checkpoint& checkpoint) {
  const Buffer head = encode_head({checkpoint.info, checkpoint.digests});
  std::vector<Bytes> pieces{head};
  for (const Chunk& chunk : checkpoint.chunks) pieces.push_back(*chunk);
  return disk_.replace(name_of(kept_prefix, checkpoint.info.instance), pieces);
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

// ---- a checkpoint that comes from others -----------------------------------------------------

Result<Done> CheckpointFiles::drop_incoming() {
  incoming_.reset();
  auto names = disk_.list();
  if (!names) return names.error();
  for (const std::string& name : *names) {
    if (!instance_in(name, incoming_prefix)) continue;
    if (auto removed = disk_.remove(name); !removed) return removed;
  }
  return disk_.sync_names();
}

// Goes on with the file of a former life if it is of the same checkpoint.
Result<Done> CheckpointFiles::receive(const CheckpointInfo& checkpoint) {
  if (incoming_ && incoming_->instance == checkpoint.instance) return Done{};
  const std::string name = name_of(incoming_prefix, checkpoint.instance);
  if (auto file = disk_.open(name)) {
    auto head = read_head(**file, name);
    if (head && digest_of(head->head.info) == digest_of(checkpoint)) {
      incoming_ = Incoming{checkpoint.instance, *std::move(file)};
      return Done{};
    }
  }
  if (!makes_sense(checkpoint)) {
    return Error{Errc::corrupt, concat(name, ": its pieces do not fit its length")};
  }
  if (auto dropped = drop_incoming(); !dropped) return dropped;
  const Buffer head = encode_head({checkpoint, {}});
  const std::uint64_t slots =
      checkpoint.chunk_count * (slot_header_bytes + std::uint64_t{checkpoint.chunk_bytes});
  auto file = disk_.create(name, head.size() + slots);
  if (!file) return file.error();
  if (auto written = (*file)->write(0, head); !written) return written;
  if (auto synced = (*file)->sync(); !synced) return synced;
  if (auto synced = disk_.sync_names(); !synced) return synced;
  incoming_ = Incoming{checkpoint.instance, *std::move(file)};
  return Done{};
}

Result<Done> CheckpointFiles::store(const CheckpointInfo& checkpoint, std::uint32_t number,
                                    Bytes bytes) {
  if (auto ready = receive(checkpoint); !ready) return ready;
  auto head = read_head(*incoming_->file, name_of(incoming_prefix, checkpoint.instance));
  if (!head) return head.error();
  if (number >= checkpoint.chunk_count || bytes.size() != bytes_of_chunk(checkpoint, number)) {
    return Error{Errc::corrupt, concat("piece ", number, " of the checkpoint at ",
                                       checkpoint.instance, " has ", bytes.size(), " bytes")};
  }
  Buffer slot;
  wire::Writer writer(slot);
  writer.number(wire::checksum(bytes));
  writer.number(static_cast<std::uint64_t>(bytes.size()));
  slot.append(bytes.data(), bytes.size());
  return incoming_->file->write(slot_of(*head, number), slot);
}

Result<CheckpointFiles::Chunk> CheckpointFiles::complete(const CheckpointInfo& checkpoint) {
  if (auto ready = receive(checkpoint); !ready) return ready.error();
  const std::string name = name_of(incoming_prefix, checkpoint.instance);
  auto head = read_head(*incoming_->file, name);
  if (!head) return head.error();
  Checkpoint whole{checkpoint, {}, {}};
  auto image = std::make_shared<Buffer>();
  for (std::uint32_t i = 0; i < checkpoint.chunk_count; ++i) {
    auto piece = read_slot(*incoming_->file, *head, i);
    if (!piece) return piece.error();
    if (!*piece) break;
    image->append((*piece)->data(), (*piece)->size());
    whole.digests.push_back(digest_of(Bytes(**piece)));
    whole.chunks.push_back(std::make_shared<const Buffer>(*std::move(*piece)));
  }
  if (whole.chunks.size() != checkpoint.chunk_count ||
      digest_of_chunks(whole.digests) != checkpoint.state) {
    if (auto dropped = drop_incoming(); !dropped) return dropped.error();
    return Error{Errc::corrupt, concat(name, ": its pieces are not those of the checkpoint")};
  }
  if (auto kept = keep(whole); !kept) return kept.error();
  if (auto dropped = drop_incoming(); !dropped) return dropped.error();
  return Chunk(std::move(image));
}

Result<std::optional<PartialCheckpoint>> CheckpointFiles::partial() {
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

Result<Done> CheckpointFiles::forget_before(Instance instance) {
  auto names = disk_.list();
  if (!names) return names.error();
  for (const std::string& name : *names) {
    const auto kept = instance_in(name, kept_prefix);
    const auto coming = instance_in(name, incoming_prefix);
    if ((!kept || *kept >= instance) && (!coming || *coming >= instance)) continue;
    if (kept == open_) open_file_.reset();
    if (coming && incoming_ && incoming_->instance == *coming) incoming_.reset();
    if (auto removed = disk_.remove(name); !removed) return removed;
  }
  return Done{};
}

}  // namespace piracema::smr
