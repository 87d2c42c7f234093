#include "smr/order/messages/batch.h"

#include <utility>

#include "smr/order/messages/digest.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace piracema::smr {

namespace {
// client, session, sequence, kind, group, and the lengths of operation and proof.
constexpr std::size_t fixed_bytes = 8 + 8 + 8 + 1 + 4 + 8 + 8;

Request read_request(wire::Reader& reader) {
  Request request;
  request.client = reader.number<std::uint64_t>();
  request.session = reader.number<std::uint64_t>();
  request.sequence = reader.number<std::uint64_t>();
  const auto kind = reader.number<std::uint8_t>();
  if (kind > static_cast<std::uint8_t>(Kind::admit)) reader.fail("a kind of request");
  request.kind = static_cast<Kind>(kind);
  request.group = reader.number<std::uint32_t>();
  request.operation = Buffer(reader.bytes());
  request.proof = Buffer(reader.bytes());
  return request;
}
}  // namespace

std::size_t encoded_bytes(const Request& request) {
  return fixed_bytes + request.operation.size() + request.proof.size();
}

void encode(const Request& request, Buffer& out) {
  wire::Writer writer(out);
  writer.number(request.client);
  writer.number(request.session);
  writer.number(request.sequence);
  writer.number(static_cast<std::uint8_t>(request.kind));
  writer.number(request.group);
  writer.bytes(request.operation);
  writer.bytes(request.proof);
}

Result<Request> decode_request(Bytes in) {
  wire::Reader reader(in);
  Request request = read_request(reader);
  if (auto finished = reader.finish(); !finished) return finished.error();
  return request;
}

BatchPtr make_batch(std::uint64_t time, std::vector<Request> requests) {
  auto batch = std::make_shared<Batch>();
  batch->time = time;
  batch->requests = std::move(requests);
  std::size_t bytes = 2 * sizeof(std::uint64_t);
  for (const Request& request : batch->requests) bytes += encoded_bytes(request);
  batch->encoded.reserve(bytes);
  wire::Writer writer(batch->encoded);
  writer.number(time);
  writer.number(static_cast<std::uint64_t>(batch->requests.size()));
  for (const Request& request : batch->requests) encode(request, batch->encoded);
  batch->digest = digest_of(batch->encoded);
  return batch;
}

Result<BatchPtr> decode_batch(Buffer encoded) {
  if (encoded.size() > batch_bytes_max) {
    return Error{Errc::corrupt, "a batch of " + std::to_string(encoded.size()) + " bytes"};
  }
  auto batch = std::make_shared<Batch>();
  wire::Reader reader(encoded);
  batch->time = reader.number<std::uint64_t>();
  const std::size_t count = reader.count(fixed_bytes);
  if (count > batch_requests_max) reader.fail("a batch of so many requests");
  if (reader.ok()) batch->requests.reserve(count);
  for (std::size_t i = 0; i < count && reader.ok(); ++i) {
    batch->requests.push_back(read_request(reader));
  }
  if (auto finished = reader.finish(); !finished) return finished.error();
  batch->encoded = std::move(encoded);
  batch->digest = digest_of(batch->encoded);
  return BatchPtr(std::move(batch));
}

}  // namespace piracema::smr
