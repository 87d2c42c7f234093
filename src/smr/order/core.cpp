#include "smr/order/core.h"

#include <utility>

namespace piracema::smr {

struct Core::Parts {
  Settings settings;
  ReplicaId me;
  const Authenticator& auth;
  View view;
  Regency regency = 0;
  Instance decided = 0;
  Digest history{};
};

Core::Core(Settings settings, ReplicaId me, const Authenticator& auth, Recovered recovered)
    : parts_(new Parts{settings, me, auth, std::move(recovered.view)}) {}
Core::~Core() = default;

void Core::step(Time, Event, std::vector<Action>&) {}
std::optional<Time> Core::next_deadline() const { return std::nullopt; }

const View& Core::view() const { return parts_->view; }
Regency Core::regency() const { return parts_->regency; }
ReplicaId Core::leader() const { return parts_->view.leader(parts_->regency); }
Instance Core::decided() const { return parts_->decided; }
Digest Core::history() const { return parts_->history; }
std::size_t Core::waiting_requests() const { return 0; }

}  // namespace piracema::smr
