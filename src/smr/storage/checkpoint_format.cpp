#include "smr/storage/checkpoint_format.h"

#include <algorithm>
#include <cstdio>

#include "base/parse.h"
#include "base/text.h"
#include "wire/checksum.h"
#include "wire/fields.h"

namespace piracema::smr {

namespace {

constexpr std::uint32_t checkpoint_version = 1;
constexpr std::uint64_t checkpoint_mark = 0x0A54504B43524950u;  // "PIRCKPT\n"
constexpr std::size_t start_bytes = 32;
constexpr std::uint64_t slot_header_bytes = 16;
/// A head is small: a piece has 32 bytes in it.
constexpr std::uint64_t head_bytes_max = std::uint64_t{256} << 20;

}  // namespace

std::string name_of(std::string_view prefix, Instance instance) {
  char digits[20];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(instance));
  return concat(prefix, digits);
}

std::optional<Instance> instance_in(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  const auto instance = parse_number<Instance>(name.substr(prefix.size()), 16);
  if (!instance || name_of(prefix, *instance) != name) return std::nullopt;
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

// Mark, checkpoint_version, length of the head, its checksum; the head.
Buffer encode_head(CheckpointHead head) {
  const Buffer fields = wire::encode(std::move(head));
  Buffer out;
  wire::Writer writer(out);
  writer.number(checkpoint_mark);
  writer.number(checkpoint_version);
  writer.number(std::uint32_t{0});
  writer.number(static_cast<std::uint64_t>(fields.size()));
  writer.number(wire::checksum(fields));
  out.append(fields.data(), fields.size());
  return out;
}

Result<HeadInFile> read_head(store::DiskFile& file, const std::string& name) {
  const auto wrong = [&](std::string_view what) {
    return Error{Errc::corrupt, concat(name, ": ", what)};
  };
  if (file.bytes() < start_bytes) return wrong("want a checkpoint, found fewer bytes");
  Buffer start;
  start.resize(start_bytes);
  if (auto read = file.read(0, {start.data(), start.size()}); !read) return read.error();
  wire::Reader reader(start);
  if (reader.number<std::uint64_t>() != checkpoint_mark)
    return wrong("want a checkpoint, found other bytes");
  if (const auto version = reader.number<std::uint32_t>(); version != checkpoint_version) {
    return Error{Errc::refused, concat(name, ": want a checkpoint of version ", checkpoint_version,
                                       ", found version ", version)};
  }
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
  auto head = wire::decode<CheckpointHead>(fields);
  if (!head) return wrong(head.error().message);
  if (!makes_sense(head->info)) return wrong("the pieces of the checkpoint do not fit its length");
  return HeadInFile{*std::move(head), start_bytes + length};
}

std::uint64_t slot_bytes(const CheckpointInfo& info) {
  return slot_header_bytes + info.chunk_bytes;
}

std::uint64_t slot_of(const HeadInFile& head, std::uint32_t number) {
  return head.end + number * slot_bytes(head.head.info);
}

Result<std::optional<Buffer>> read_slot(store::DiskFile& file, const HeadInFile& head,
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

Buffer encode_slot(Bytes chunk) {
  Buffer slot;
  wire::Writer writer(slot);
  writer.number(wire::checksum(chunk));
  writer.number(static_cast<std::uint64_t>(chunk.size()));
  slot.append(chunk.data(), chunk.size());
  return slot;
}

}  // namespace piracema::smr
