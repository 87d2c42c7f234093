#include "run/barrier/part_writer.h"

#include <utility>

#include "base/ensure.h"

namespace piracema::runtime {

void PartWriter::add(const Of& of, Bytes piece) {
  Begun& begun = begun_[of.replica];
  if (begun.epoch != of.epoch || begun.snapshot != of.snapshot) {
    begun = {of.epoch, of.snapshot};
    auto stream = store_.begin_part(of.snapshot, of.replica);
    if (stream) {
      begun.stream = *std::move(stream);
    } else {
      begun.error = stream.error();
    }
  }
  begun.bytes += piece.size();
  if (!begun.stream) return;
  auto appended = begun.stream->append(piece);
  if (appended) return;
  begun.error = appended.error();
  begun.stream.reset();  // A disk that is full has room again.
}

Result<store::Part> PartWriter::put(const Of& of, const store::PartContent& content) {
  const auto found = begun_.find(of.replica);
  if (found == begun_.end()) {
    ENSURE(content.before == 0);
    return store_.put_content(of.snapshot, of.replica, content);
  }
  const Begun begun = std::move(found->second);
  begun_.erase(found);
  if (begun.epoch != of.epoch || begun.snapshot != of.snapshot) return put(of, content);
  ENSURE(content.index && content.before == begun.bytes);
  if (begun.error) return *begun.error;
  if (auto appended = begun.stream->append(content.data); !appended) return appended.error();
  return begun.stream->finish(*content.index);
}

}  // namespace piracema::runtime
