#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "smr/ids.h"
#include "smr/service/reply.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace piracema::smr {

/// A replica that is to be added is admitted like a client of this number before: from then on the
/// members let it in, and it may fetch the state as a learner. It dials them, as it has the higher
/// number; a member with a higher one waits until it is a member itself.
constexpr ClientId learner_base = ClientId{1} << 62;
constexpr ClientId learner_of(ReplicaId replica) { return learner_base | replica; }

/// What an administrator asks for with Kind::admit: from here on this client has this key, whatever
/// it had before.
struct Admission {
  /// Not 0, which is the administrator.
  ClientId client = 0;
  /// 64 hexadecimal digits; empty: it is no client any more.
  std::string public_key;
  auto fields() { return std::tie(client, public_key); }
};
Buffer encode(Admission admission);

/// The clients that were admitted or dismissed since the group began; those of the configuration
/// are not in it. A part of the service's state: all replicas agree from where on it holds. Pure.
class Admissions {
 public:
  /// Those that are remembered, dismissed ones as well.
  static constexpr std::size_t clients_max = 100'000;

  struct Answer {
    Sequence sequence = 0;
    ReplyStatus status = ReplyStatus::refused;
    /// Of `refused`: why. Of `forgotten`: what it wants.
    std::string text;
  };
  /// `forgotten` for one that is older than the last, with the number of that (Outnumbered): a copy
  /// of a request would undo what was said after it. Any other answer is kept as `last`.
  Answer change(Sequence sequence, Bytes operation);
  const Answer& last() const { return last_; }

  bool is_dismissed(ClientId client) const;
  std::vector<Admission> all() const;
  /// The one that `change` has just taken.
  const Admission& latest() const { return latest_; }

  /// What it is now, to be written later by another thread.
  std::function<void(wire::Writer&)> snapshot() const;
  /// What `snapshot` wrote; ask `in` whether it was right.
  void read(wire::Reader& in);

 private:
  Answer last_;
  Admission latest_;
  std::map<ClientId, std::string> keys_;
};

}  // namespace piracema::smr
