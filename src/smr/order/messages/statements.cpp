#include "smr/order/messages/statements.h"

#include <string>

#include "smr/order/messages/digest.h"
#include "wire/fields.h"

namespace piracema::smr {

namespace {

template <class... Fields>
Buffer statement(std::string kind, Fields... fields) {
  Buffer out;
  wire::FieldWriter writer(out);
  kind.insert(0, "piracema smr 1 ");
  writer.put(kind);
  (writer.put(fields), ...);
  return out;
}

}  // namespace

Buffer signed_bytes(const Collect& c) {
  return statement("collect", c.from, c.view, c.regency, c.proof, c.entries);
}
Buffer signed_bytes(const Milestone& m) { return statement("milestone", m.instance, m.history); }
Buffer signed_bytes(const CheckpointVote& vote) {
  return statement("checkpoint", vote.instance, vote.digest);
}
Buffer signed_bytes(const View& view) { return statement("view", view); }

Digest digest_of(const CheckpointInfo& checkpoint) {
  return digest_of(statement("checkpoint info", checkpoint));
}

}  // namespace piracema::smr
