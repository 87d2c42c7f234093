#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <variant>

#include "smr/order/messages/batch.h"
#include "smr/order/messages/messages.h"
#include "wire/fields.h"

/// How one alternative of a variant of messages or log records becomes bytes: its number, its
/// fields, and at most one body behind them that is shared and not copied.
namespace piracema::smr {

class RecordWriter {
 public:
  explicit RecordWriter(EncodedMessage& out) : out_(out), writer_(out.head), fields_(out.head) {}

  template <class N>
  void number(N value) {
    writer_.number(value);
  }
  void bytes(Bytes value) { writer_.bytes(value); }
  template <class T>
  void fields(T& value) {
    fields_.put(value);
  }
  /// The last thing written; null is nothing.
  void body(const BatchPtr& batch) {
    if (batch) out_.body = std::shared_ptr<const Buffer>(batch, &batch->encoded);
  }
  void body(const std::shared_ptr<const Buffer>& bytes) { out_.body = bytes; }

 private:
  EncodedMessage& out_;
  wire::Writer writer_;
  wire::FieldWriter fields_;
};

/// Whatever is wrong with the bytes, reading goes on with empty values; `finish` tells.
class RecordReader {
 public:
  explicit RecordReader(Bytes in) : reader_(in) {}

  template <class N>
  N number() {
    return reader_.reader().number<N>();
  }
  Bytes bytes() { return reader_.reader().bytes(); }
  std::size_t count(std::size_t bytes_each) { return reader_.reader().count(bytes_each); }
  template <class T>
  void fields(T& value) {
    reader_.get(value);
  }
  /// All that is left; at most `limit` bytes.
  std::shared_ptr<const Buffer> rest(std::size_t limit) {
    const std::size_t left = reader_.reader().left();
    if (left > limit) fail("a body of " + std::to_string(left) + " bytes");
    return std::make_shared<const Buffer>(reader_.reader().raw(ok() ? left : 0));
  }
  /// A batch that takes all that is left; null if it is wrong.
  BatchPtr batch() {
    auto decoded = decode_batch(Buffer(reader_.reader().raw(reader_.reader().left())));
    if (decoded) return std::move(*decoded);
    fail("a batch (" + decoded.error().message + ")");
    return nullptr;
  }

  void fail(std::string what) { reader_.reader().fail(std::move(what)); }
  bool ok() { return reader_.reader().ok(); }
  Result<Done> finish() { return reader_.finish(); }

 private:
  wire::FieldReader reader_;
};

template <class Variant, class Write>
EncodedMessage encode_variant(const Variant& value, Write write) {
  EncodedMessage out;
  RecordWriter writer(out);
  writer.number(static_cast<std::uint8_t>(value.index()));
  // fields() ties what it names for reading as well; writing changes nothing.
  std::visit([&](auto& one) { write(one, writer); }, const_cast<Variant&>(value));
  return out;
}

template <std::size_t I = 0, class Variant, class Read>
void read_alternative(std::size_t index, Variant& out, RecordReader& in, Read read) {
  if constexpr (I < std::variant_size_v<Variant>) {
    if (index == I) {
      read(out.template emplace<I>(), in);
    } else {
      read_alternative<I + 1>(index, out, in, read);
    }
  } else {
    in.fail("a kind " + std::to_string(index));
  }
}

template <class Variant, class Read>
Result<Variant> decode_variant(Bytes in, Read read) {
  RecordReader reader(in);
  const auto index = reader.number<std::uint8_t>();
  Variant out;
  if (reader.ok()) read_alternative(index, out, reader, read);
  if (auto finished = reader.finish(); !finished) return finished.error();
  return out;
}

}  // namespace piracema::smr
