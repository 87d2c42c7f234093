#include "state/plain_part.h"

#include "wire/reader.h"

namespace piracema::state {

Result<PlainPart> read_plain_part(Bytes bytes) {
  wire::Reader reader(bytes);
  PlainPart part;
  part.stage = static_cast<Stage>(reader.number<std::uint8_t>());
  part.state = reader.bytes();
  part.under_way = reader.raw(reader.left());
  if (!reader.ok()) return reader.finish().error();
  return part;
}

}  // namespace piracema::state
