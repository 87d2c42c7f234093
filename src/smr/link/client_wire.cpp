#include "smr/link/client_wire.h"

#include "wire/fields.h"
#include "wire/reader.h"

namespace piracema::smr {

namespace {
Error too_short(const char* what) {
  return {Errc::corrupt, std::string(what) + ": the message is too short"};
}

struct EarlierStatus {
  StatusTold told;
  auto fields() {
    return std::tie(told.view, told.regency, told.leader, told.decided, told.is_member, told.silent,
                    told.clients, told.connected);
  }
};
}  // namespace

Result<StatusTold> decode_status(Bytes message) {
  auto told = wire::decode<StatusTold>(message);
  if (told) return told;
  auto earlier = wire::decode<EarlierStatus>(message);
  if (!earlier) return told.error();
  return std::move(earlier->told);
}

Result<HeadAndRest<ReadHead>> decode_read(Bytes message) {
  if (message.size() < 8) return too_short("read");
  return HeadAndRest<ReadHead>{{wire::Reader(message).number<std::uint64_t>()}, message.subspan(8)};
}

Result<HeadAndRest<ReplyHead>> decode_reply(Bytes message) {
  if (message.size() < reply_head_bytes) return too_short("reply");
  wire::Reader reader(message);
  ReplyHead head;
  head.session = reader.number<std::uint64_t>();
  head.sequence = reader.number<std::uint64_t>();
  const auto status = reader.number<std::uint8_t>();
  if (status > static_cast<std::uint8_t>(ReplyStatus::refused)) {
    return Error{Errc::corrupt, "reply: a status that nobody knows"};
  }
  head.status = static_cast<ReplyStatus>(status);
  return HeadAndRest<ReplyHead>{head, message.subspan(reply_head_bytes)};
}

Result<HeadAndRest<ReadReplyHead>> decode_read_reply(Bytes message) {
  if (message.size() < read_reply_head_bytes) return too_short("reply to a read");
  wire::Reader reader(message);
  ReadReplyHead head;
  head.token = reader.number<std::uint64_t>();
  head.known = reader.number<std::uint8_t>() != 0;
  return HeadAndRest<ReadReplyHead>{head, message.subspan(read_reply_head_bytes)};
}

}  // namespace piracema::smr
