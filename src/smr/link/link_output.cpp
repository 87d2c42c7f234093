#include <sys/socket.h>

#include <cerrno>

#include "smr/link/link.h"
#include "smr/link/link_records.h"
#include "wire/writer.h"

/// What a link writes: messages, gathered into records.
namespace piracema::smr {

namespace {

void write_number(std::byte* out, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>(value >> (8 * i));
}

}  // namespace

// Of the handshake: small, without a tag, at once.
void Link::put_plain(Bytes payload) {
  begin_record();
  out_.append(payload.data(), payload.size());
  write_number(out_.data() + *record_, payload.size(), 4);
  write_number(out_.data() + *record_ + 4, 0, 8);
  record_.reset();
  flush();
}

void Link::begin_record() {
  record_ = out_.size();
  out_.extend(record_header_bytes);
}

bool Link::send(std::uint8_t kind, Bytes first, Bytes second) {
  const std::size_t size = message_header_bytes + first.size() + second.size();
  if (!open_ || !known_ || out_.size() - written_ + size > limits_.waiting_bytes) return false;
  if (!record_) begin_record();
  wire::Writer writer(out_);
  writer.number(static_cast<std::uint32_t>(size - 4));
  writer.number(kind);
  out_.append(first.data(), first.size());
  out_.append(second.data(), second.size());
  if (out_.size() - *record_ > record_bytes) seal();
  if (!std::exchange(listed_, true)) flush_list_.add(shared_from_this());
  return true;
}

void Link::seal() {
  if (!record_) return;
  std::byte* const record = out_.data() + *record_;
  const std::size_t size = out_.size() - *record_;
  write_number(record, size - record_header_bytes, 4);
  write_number(record + 4, sent_->number(), 8);
  const Tag tag = sent_->close(Bytes(record, record_header_bytes),
                               std::span(record + record_header_bytes, size - record_header_bytes));
  out_.append(tag.data(), tag.size());
  record_.reset();
}

void Link::flush() {
  if (!open_) return;
  seal();
  while (!full_ && written_ < out_.size()) {
    const ssize_t count =
        ::send(socket_.get(), out_.data() + written_, out_.size() - written_, MSG_NOSIGNAL);
    if (count >= 0) {
      written_ += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      full_ = true;
    } else if (errno != EINTR) {
      // The poller reads what the peer still had to say, then finds the end.
      ::shutdown(socket_.get(), SHUT_RDWR);
      out_.clear();
      written_ = 0;
      return;
    }
  }
  if (written_ == out_.size()) {
    out_.clear();
    written_ = 0;
    if (out_.capacity() > 4 * record_bytes) out_ = Buffer();
  } else if (written_ > out_.size() / 2) {
    Buffer rest(Bytes(out_).subspan(written_));
    out_.swap(rest);
    written_ = 0;
  }
  watch();
}

}  // namespace piracema::smr
