#include "smr/order/messages/messages.h"

#include <string>
#include <type_traits>
#include <utility>

#include "smr/order/messages/batch.h"
#include "smr/order/messages/record_format.h"

/// docs/formats/smr_wire.md. A message is its number in the variant, then its fields; a batch or a
/// chunk comes last and without a length.
namespace piracema::smr {

namespace {

constexpr const char* names[] = {"PROPOSE",
                                 "WRITE",
                                 "ACCEPT",
                                 "FORWARD",
                                 "HEARTBEAT",
                                 "MILESTONE",
                                 "STOP",
                                 "STOPDATA",
                                 "SYNC",
                                 "FETCH-BATCH",
                                 "FETCHED-BATCH",
                                 "BEHIND",
                                 "DECIDED",
                                 "CONFIRM-LEADER",
                                 "LEADER-CONFIRMED",
                                 "CHECKPOINT-VOTE",
                                 "STATE-REQUEST",
                                 "STATE-OFFER",
                                 "MANIFEST-REQUEST",
                                 "MANIFEST",
                                 "CHUNK-REQUEST",
                                 "CHUNK",
                                 "LOG-REQUEST",
                                 "LOG-SUFFIX",
                                 "VIEW-VOTE",
                                 "SIGNED-VIEW",
                                 "TRAIL-REQUEST",
                                 "TRAIL",
                                 "GONE"};
static_assert(std::size(names) == std::variant_size_v<Message>);

// ---- what has no fields() ----------------------------------------------------------------------

void write(Propose& m, RecordWriter& out) {
  out.number(m.instance);
  out.number(m.regency);
  out.body(m.batch);
}
void write(FetchedBatch& m, RecordWriter& out) {
  out.number(m.instance);
  out.body(m.batch);
}
void write(Chunk& m, RecordWriter& out) {
  out.number(m.instance);
  out.number(m.chunk);
  out.body(m.bytes);
}
void write(Forward& m, RecordWriter& out) {
  out.number(static_cast<std::uint64_t>(m.requests.size()));
  Buffer bytes;
  for (const Request& request : m.requests) {
    bytes.clear();
    encode(request, bytes);
    out.bytes(bytes);
  }
}
void write(LogSuffix& m, RecordWriter& out) {
  out.number(m.from);
  out.fields(m.digests);
  out.number(static_cast<std::uint64_t>(m.batches.size()));
  for (const BatchPtr& batch : m.batches) out.bytes(batch->encoded);
  out.fields(m.proof);
}
template <class M>
void write(M& m, RecordWriter& out) {
  out.fields(m);
}

void read(Propose& m, RecordReader& in) {
  m.instance = in.number<Instance>();
  m.regency = in.number<Regency>();
  m.batch = in.batch();
}
void read(FetchedBatch& m, RecordReader& in) {
  m.instance = in.number<Instance>();
  m.batch = in.batch();
}
void read(Chunk& m, RecordReader& in) {
  m.instance = in.number<Instance>();
  m.chunk = in.number<std::uint32_t>();
  m.bytes = in.rest(chunk_bytes_max);
}
void read(Forward& m, RecordReader& in) {
  const std::size_t count = in.count(sizeof(std::uint64_t));
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    auto request = decode_request(in.bytes());
    if (!request) return in.fail("a forwarded request");
    m.requests.push_back(std::move(*request));
  }
}
void read(LogSuffix& m, RecordReader& in) {
  m.from = in.number<Instance>();
  in.fields(m.digests);
  const std::size_t count = in.count(sizeof(std::uint64_t));
  if (count != 0 && count != m.digests.size()) return in.fail("a list of batches");
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    auto batch = decode_batch(Buffer(in.bytes()));
    if (!batch) return in.fail("a batch");
    m.batches.push_back(std::move(*batch));
  }
  in.fields(m.proof);
}
void read(Trail& m, RecordReader& in) {
  in.fields(m);
  if (m.digests.size() > trail_digests_max) in.fail("a trail");
}
template <class M>
void read(M& m, RecordReader& in) {
  in.fields(m);
}

}  // namespace

const char* name_of(const Message& message) { return names[message.index()]; }

EncodedMessage encode(const Message& message) {
  return encode_variant(message, [](auto& m, RecordWriter& out) { write(m, out); });
}

Result<MessagePtr> decode_message(Bytes in) {
  auto decoded = decode_variant<Message>(in, [](auto& m, RecordReader& from) { read(m, from); });
  if (!decoded) return decoded.error();
  return std::make_shared<const Message>(std::move(*decoded));
}

}  // namespace piracema::smr
