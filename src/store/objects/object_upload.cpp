#include "store/objects/object_upload.h"

#include <algorithm>

namespace piracema::store {

ObjectUpload::~ObjectUpload() {
  if (!upload_.empty() && !finished_) client_.abort_upload(key_, upload_);
}

Result<Done> ObjectUpload::append(Bytes data) {
  if (failed_) return *failed_;
  while (!data.empty()) {
    Buffer& into = first_.size() < piece_bytes ? first_ : next_;
    if (into.empty()) into.reserve(std::min(data.size(), piece_bytes));
    const std::size_t count = std::min(data.size(), piece_bytes - into.size());
    into.append(data.data(), count);
    data = data.subspan(count);
    if (next_.size() < piece_bytes) continue;
    if (auto put = put_next({next_}); !put) {
      failed_ = put.error();
      return put;
    }
    next_.clear();
  }
  return Done{};
}

Result<Done> ObjectUpload::put_next(const std::vector<Bytes>& pieces) {
  if (upload_.empty()) {
    auto begun = client_.begin_upload(key_);
    if (!begun) return begun.error();
    upload_ = *std::move(begun);
  }
  const auto number = static_cast<std::uint32_t>(tags_.size() + 2);
  auto tag = client_.put_piece(key_, upload_, number, pieces);
  if (!tag) return tag.error();
  tags_.push_back(*std::move(tag));
  return Done{};
}

Result<Done> ObjectUpload::finish(Bytes head, const std::vector<Bytes>& tail) {
  if (failed_) return *failed_;
  auto put = put_all(head, tail);
  finished_ = put.ok();
  if (!put) failed_ = put.error();
  return put;
}

Result<Done> ObjectUpload::put_all(Bytes head, const std::vector<Bytes>& tail) {
  std::vector<Bytes> last{next_};
  last.insert(last.end(), tail.begin(), tail.end());
  if (upload_.empty()) {
    last.insert(last.begin(), {head, Bytes(first_)});
    return client_.put(key_, last);
  }
  if (auto put = put_next(last); !put) return put;
  auto first = client_.put_piece(key_, upload_, 1, {head, first_});
  if (!first) return first.error();
  tags_.insert(tags_.begin(), *std::move(first));
  return client_.finish_upload(key_, upload_, tags_);
}

}  // namespace piracema::store
