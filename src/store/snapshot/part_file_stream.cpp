#include "store/snapshot/part_file_stream.h"

#include <array>

#include "store/snapshot/part_format.h"

namespace piracema::store {

// The header is written last, as it says how long the part is: until then there is room for it.
Result<std::unique_ptr<PartStream>> PartFileStream::begin(
    const std::string& path, const PartFile& of, std::function<Result<Done>()> may_finish) {
  auto file = NewFile::create(path);
  if (!file) return file.error();
  std::unique_ptr<PartFileStream> stream(
      new PartFileStream(of, std::move(may_finish), *std::move(file)));
  if (auto begun = stream->put(PartHeader{}, {}); !begun) return begun.error();
  return std::unique_ptr<PartStream>(std::move(stream));
}

Result<Done> PartFileStream::append(Bytes data) {
  auto done = put(data, {});
  if (done) bytes_ += data.size();
  return done;
}

Result<Part> PartFileStream::finish(const PartIndex& content) {
  if (failed_) return *failed_;
  const Buffer index = encode_index(content);
  auto part = describe_indexed(of_.snapshot, of_.replica, bytes_, index, content);
  if (!part) return part;
  if (auto may = may_finish_(); !may) return may.error();
  if (auto written = put(index, index_trailer(index)); !written) return written.error();
  auto header = file_.overwrite(0, part_header(of_.snapshot, *part));
  if (!header) return header.error();
  if (auto finished = file_.finish(); !finished) return finished.error();
  return part;
}

Result<Done> PartFileStream::put(Bytes first, Bytes second) {
  if (failed_) return *failed_;
  auto written = file_.append(std::array<Bytes, 2>{first, second});
  if (!written) failed_ = written.error();
  return written;
}

}  // namespace piracema::store
