#include "smr/replica/peer_lives.h"

#include "wire/checksum.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace piracema::smr {

Buffer PeerLives::encode() const {
  Buffer bytes;
  wire::Writer out(bytes);
  out.number(static_cast<std::uint64_t>(lives_.size()));
  for (const auto& [id, life] : lives_) {
    out.number(id);
    out.number(life);
  }
  out.number(wire::checksum(bytes));
  return bytes;
}

Result<Done> PeerLives::restore(Bytes bytes) {
  if (bytes.size() < sizeof(std::uint64_t)) return Error{Errc::corrupt, "too short"};
  const Bytes fields = bytes.first(bytes.size() - sizeof(std::uint64_t));
  if (wire::Reader(bytes.subspan(fields.size())).number<std::uint64_t>() !=
      wire::checksum(fields)) {
    return Error{Errc::corrupt, "its checksum is wrong"};
  }
  wire::Reader in(fields);
  std::map<ReplicaId, std::uint64_t> lives;
  const std::size_t count = in.count(12);
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    const auto id = in.number<ReplicaId>();
    lives[id] = in.number<std::uint64_t>();
  }
  if (auto finished = in.finish(); !finished) return finished.error();
  lives_ = std::move(lives);
  return Done{};
}

PeerLives::Heard PeerLives::hear(ReplicaId from, const LifeTold& told) {
  if (told.silent) {
    silent_.insert(from);
  } else {
    silent_.erase(from);
  }
  const auto known = lives_.find(from);
  const bool is_other = known != lives_.end() && known->second != told.life;
  if (is_other && !told.lost) {
    forgetful_.insert(from);
    return Heard::forgetful;
  }
  forgetful_.erase(from);
  if (known != lives_.end() && !is_other) return Heard::known;
  lives_[from] = told.life;
  return Heard::fresh;
}

bool PeerLives::refused_by(ReplicaId from, const View& view) {
  if (view.has(from)) refused_by_.insert(from);
  return refused_by_.size() >= view.one_correct();
}

}  // namespace piracema::smr
