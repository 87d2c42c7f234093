#include "store/snapshot/part_format.h"

#include <algorithm>
#include <cstdio>

#include "base/ensure.h"
#include "base/hex.h"
#include "base/parse.h"
#include "base/text.h"
#include "wire/checksum.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace piracema::store {

namespace {

constexpr std::string_view magic = "PIRAPART";

Error corrupt(const std::string& file, const std::string& what) {
  return Error{Errc::corrupt, concat(file, ": ", what)};
}

template <std::size_t Size>
std::array<std::byte, Size> as_array(const Buffer& from) {
  ENSURE(from.size() == Size);
  std::array<std::byte, Size> to;
  std::copy_n(from.data(), Size, to.begin());
  return to;
}

struct Header {
  std::uint32_t version = 0;
  PartFile of;
  std::uint64_t bytes = 0;
};

// `start` has all of it.
Result<Header> read_header(const std::string& file, Bytes start) {
  if (as_text(start.first(magic.size())) != magic) {
    return corrupt(file, concat("want a part of a snapshot, which begins with ", magic,
                                ", found something else"));
  }
  wire::Reader reader(start.subspan(magic.size()));
  Header header;
  header.version = reader.number<std::uint32_t>();
  header.of.replica = reader.number<std::uint32_t>();
  header.of.snapshot = reader.number<std::uint64_t>();
  header.bytes = reader.number<std::uint64_t>();
  return header;
}

Result<Done> check_owner(const std::string& file, const PartFile& found, const PartFile& want) {
  if (found == want) return Done{};
  return corrupt(file, concat("want snapshot ", want.snapshot, " of replica ", want.replica,
                              ", found snapshot ", found.snapshot, " of replica ", found.replica));
}

}  // namespace

Result<Part> describe(ReplicaId replica, Bytes state) {
  if (state.size() > part_bytes_max) {
    return Error{Errc::refused, concat("state of replica ", replica, ": want at most ",
                                       part_bytes_max, " bytes, found ", state.size())};
  }
  return Part{replica, state.size(), wire::checksum(state)};
}

Result<Part> describe_indexed(SnapshotId snapshot, ReplicaId replica, std::uint64_t data_bytes,
                              Bytes index, const PartIndex& content) {
  if (data_bytes > part_bytes_max || index.size() > part_bytes_max - data_bytes) {
    return Error{Errc::refused, concat("state of replica ", replica, ": want at most ",
                                       part_bytes_max, " bytes, found ", data_bytes)};
  }
  return Part{replica, data_bytes + index.size(), wire::checksum(index), true,
              content.other_files({snapshot, replica})};
}

IndexTrailer index_trailer(Bytes index) {
  Buffer out;
  wire::Writer writer(out);
  writer.number(std::uint64_t{index.size()});
  writer.number(wire::checksum(index));
  return as_array<index_trailer_bytes>(out);
}

Result<IndexedPart> check_indexed(const std::string& file, std::uint64_t file_bytes, Bytes start,
                                  const PartFile& want) {
  if (start.size() < part_header_bytes || file_bytes < part_header_bytes + index_trailer_bytes) {
    return corrupt(file, concat("want a part of a snapshot, found ", file_bytes, " bytes"));
  }
  auto header = read_header(file, start);
  if (!header) return header.error();
  if (header->version < indexed_part_version_min || header->version > indexed_part_version) {
    return Error{
        Errc::refused,
        concat(file, ": want version ", indexed_part_version_min, " or ", indexed_part_version,
               " of the format, which have an index, found ", header->version)};
  }
  if (auto owned = check_owner(file, header->of, want); !owned) return owned.error();
  const std::uint64_t bytes = header->bytes;
  if (bytes > part_bytes_max || file_bytes != part_header_bytes + bytes + index_trailer_bytes) {
    return corrupt(file, concat("want ", part_header_bytes + bytes + index_trailer_bytes,
                                " bytes, found ", file_bytes));
  }
  return IndexedPart{header->version, bytes};
}

Result<IndexPlace> check_index_trailer(const std::string& file, Bytes trailer,
                                       const IndexedPart& found, const Part* part) {
  wire::Reader reader(trailer);
  const auto length = reader.number<std::uint64_t>();
  const auto checksum = reader.number<std::uint64_t>();
  if (part != nullptr && found.bytes != part->bytes) {
    return corrupt(file, concat("want ", part->bytes, " bytes of state, found ", found.bytes));
  }
  if (length > found.bytes || (part != nullptr && checksum != part->checksum)) {
    return corrupt(file,
                   concat("want an index of at most ", found.bytes, " bytes",
                          part == nullptr ? std::string()
                                          : concat(" with the checksum ", to_hex(part->checksum)),
                          ", found one of ", length, " with ", to_hex(checksum)));
  }
  return IndexPlace{length, checksum};
}

Result<PartIndex> check_index(const std::string& file, Bytes bytes, const IndexedPart& found,
                              const IndexPlace& place, const PartFile& own, const Part* part) {
  if (const std::uint64_t sum = wire::checksum(bytes); sum != place.checksum) {
    return corrupt(file, concat("want an index with the checksum ", to_hex(place.checksum),
                                ", found ", to_hex(sum)));
  }
  auto index = decode_index(file, bytes, own, found.bytes - bytes.size(), found.version);
  if (!index) return index;
  if (part != nullptr && index->other_files(own) != part->files) {
    return corrupt(file, "its index names other files than the manifest");
  }
  return index;
}

PartHeader part_header(SnapshotId snapshot, const Part& part) {
  Buffer out;
  wire::Writer writer(out);
  out.append(magic.data(), magic.size());
  writer.number(part.indexed ? indexed_part_version : part_version);
  writer.number(part.replica);
  writer.number(snapshot);
  writer.number(part.bytes);
  return as_array<part_header_bytes>(out);
}

PartTrailer part_trailer(const Part& part) {
  Buffer out;
  wire::Writer(out).number(part.checksum);
  return as_array<part_trailer_bytes>(out);
}

// Every field of the header has one right value, so it needs no checksum of its own.
Result<Done> check_part_header(const std::string& file, std::uint64_t file_bytes, Bytes start,
                               SnapshotId snapshot, const Part& part) {
  if (start.size() < part_header_bytes) {
    return corrupt(file, concat("want a header of ", part_header_bytes, " bytes, found ",
                                start.size(), " bytes"));
  }
  auto header = read_header(file, start);
  if (!header) return header.error();
  if (header->version != part_version) {
    return Error{Errc::refused, concat(file, ": this program reads version ", part_version,
                                       " of the format, found ", header->version)};
  }
  if (auto owned = check_owner(file, header->of, {snapshot, part.replica}); !owned) return owned;
  if (header->bytes != part.bytes) {
    return corrupt(file,
                   concat("want a state of ", part.bytes, " bytes, found one of ", header->bytes));
  }
  const std::uint64_t want = part_header_bytes + part.bytes + part_trailer_bytes;
  if (part.bytes > part_bytes_max || file_bytes != want) {
    return corrupt(file, concat("want ", want, " bytes, found ", file_bytes));
  }
  return Done{};
}

Result<Done> check_part_state(const std::string& file, Bytes state, Bytes trailer,
                              const Part& part) {
  const auto stored = wire::Reader(trailer).number<std::uint64_t>();
  if (stored != part.checksum) {
    return corrupt(file, concat("want the checksum ", to_hex(part.checksum), " at its end, found ",
                                to_hex(stored)));
  }
  const std::uint64_t found = wire::checksum(state);
  if (found != part.checksum) {
    return corrupt(file, concat("want a state with the checksum ", to_hex(part.checksum),
                                ", found ", to_hex(found)));
  }
  return Done{};
}

std::string part_file_name(ReplicaId replica) {
  char name[24];
  std::snprintf(name, sizeof name, "part-%04u", replica);
  return name;
}

std::string snapshot_folder_name(SnapshotId snapshot) {
  char name[24];
  std::snprintf(name, sizeof name, "%012llu", static_cast<unsigned long long>(snapshot));
  return name;
}

std::optional<SnapshotId> snapshot_of_folder(std::string_view name) {
  const auto number = parse_number<SnapshotId>(name);
  if (!number || *number == 0 || name != snapshot_folder_name(*number)) return std::nullopt;
  return number;
}

}  // namespace piracema::store
